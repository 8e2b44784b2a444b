// Hang-up of a call that has no more conversation, repeated until the PBX accepts it: a proxy before the PBX may refuse
// requests for minutes while its events still arrive, and the far end would pay for silence.

import { pause } from '../../../std/pause.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import { isAriNotFound } from '../rest/client.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';

/** Requests about one call; with their pauses they take half an hour. */
export const TRIES_MAX = 64;
/** Pause after each request; the last is repeated. */
const PAUSES_MS = [2_000, 2_000, 10_000, 30_000] as const;

/** Pause in milliseconds after the `nth` request, counted from 1. */
export function pauseMsAfter(nth: number): number {
  return PAUSES_MS[Math.min(nth, PAUSES_MS.length) - 1] ?? 0;
}

/** `reason` in Asterisk's terms; default: normal. Settles when the PBX has accepted the request, or the call is over;
 *  at once if the hang-up is being requested. Never rejects. */
export async function hangUpUntilTaken(
  peer: AriContext,
  call: AriCall,
  reason?: string,
): Promise<void> {
  if (call.isHangingUp) return;
  call.isHangingUp = true;
  // A reconciliation hangs up the call, too.
  call.isUnwanted = true;
  await request(peer, call, reason);
  call.isHangingUp = false;
}

async function request(peer: AriContext, call: AriCall, reason: string | undefined): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const status = await hangUpChannel(peer, call.channelId, reason);
    if (status !== undefined && (status <= 299 || isAriNotFound({ status }))) return;
    await pause(peer.clock, pauseMsAfter(tries), call.over);
    // A caller who continues in the dialplan is not ours to hang up.
    if (call.over.aborted || call.released) return;
  }
}
