// Backoff of a contact whose dial the provider failed without placing a call. Retries after real calls:
// contact-outcome.ts.

import type { OpenAttempt } from '../store/campaigns/dial-attempts.ts';

/** Consecutive dials of a contact that may place no call. */
const PUT_OFFS_MAX = 10;
/** Longest backoff, counted from the first of these dials. */
const PUT_OFF_MS_MAX = 24 * 3_600_000;
/** Pause, doubled each time: the last dial comes half a day after the first. */
const AGAIN_MS = { first: 60_000, most: 4 * 3_600_000 };

/** Time until the contact is due again, within its campaign's hours. Undefined if the limits are reached. */
export function putOffMs({
  putOffs,
  putOffMs: sinceMs,
}: Pick<OpenAttempt, 'putOffs' | 'putOffMs'>): number | undefined {
  if (putOffs >= PUT_OFFS_MAX || (sinceMs ?? 0) >= PUT_OFF_MS_MAX) return undefined;
  return Math.min(AGAIN_MS.most, AGAIN_MS.first * 2 ** putOffs);
}
