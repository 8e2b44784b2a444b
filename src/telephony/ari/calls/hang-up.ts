// The hang-up of a call in which nobody talks any more, again until the PBX has done it: a proxy before it may refuse
// requests for minutes while its events still arrive, and the far end would wait in silence, at a price.

import { pause } from '../../../std/pause.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import { isAriNotFound } from '../rest/client.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';

/** Of requests about a call, with their pauses half an hour in all. */
export const TRIES_MAX = 64;
/** After each request; the last is repeated. */
const PAUSES_MS = [2_000, 2_000, 10_000, 30_000] as const;

/** `nth`: from 1. */
export function pauseMsAfter(nth: number): number {
  return PAUSES_MS[Math.min(nth, PAUSES_MS.length) - 1] ?? 0;
}

/** `reason` in Asterisk's terms; default: normal. Settles when the PBX has taken the request, or the call is over; at
 *  once if it is being requested. Never rejects. */
export async function hangUpUntilTaken(
  peer: AriContext,
  call: AriCall,
  reason?: string,
): Promise<void> {
  if (call.isHangingUp) return;
  call.isHangingUp = true;
  // A reconciliation hangs it up, too.
  call.isUnwanted = true;
  await request(peer, call, reason);
  call.isHangingUp = false;
}

async function request(peer: AriContext, call: AriCall, reason: string | undefined): Promise<void> {
  for (let tries = 1; tries <= TRIES_MAX; tries++) {
    const status = await hangUpChannel(peer, call.channelId, reason);
    if (status !== undefined && (status <= 299 || isAriNotFound({ status }))) return;
    await pause(peer.clock, pauseMsAfter(tries), call.over);
    // A caller who goes on in the dialplan is not ours.
    if (call.over.aborted || call.released) return;
  }
}
