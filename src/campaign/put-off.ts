// How long a contact is put off whose dial the provider failed without placing a call. Apart from the calls that
// a contact gets: those are contact-outcome.ts.

import type { OpenAttempt } from '../store/campaigns/dial-attempts.ts';

/** Dials of a contact that may place no call, since its last one that did. */
const PUT_OFFS_MAX = 10;
/** From the first of them on. */
const PUT_OFF_MS_MAX = 24 * 3_600_000;
/** Twice as long each time: the last dial comes half a day after the first. */
const AGAIN_MS = { first: 60_000, most: 4 * 3_600_000 };

/** After how long the contact is due again; its campaign's hours hold then as ever. Undefined if it was put off
 *  as often, or as long, as may be. */
export function putOffMs({
  putOffs,
  putOffMs: sinceMs,
}: Pick<OpenAttempt, 'putOffs' | 'putOffMs'>): number | undefined {
  if (putOffs >= PUT_OFFS_MAX || (sinceMs ?? 0) >= PUT_OFF_MS_MAX) return undefined;
  return Math.min(AGAIN_MS.most, AGAIN_MS.first * 2 ** putOffs);
}
