// The longest time of an inbound call. The printed dialplan limits the time to the answer, by TIMEOUT(absolute), and names
// the limit of the whole call as the third argument of Stasis: the gateway sets it when it takes the call. So Asterisk
// lets a caller go whom the gateway can neither answer nor hang up. Source: asterisk §4.1.

import { pause } from '../../../std/pause.ts';
import { bestEffort } from '../rest/best-effort.ts';
import { isAriNotFound } from '../rest/client.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';

/** A week: more is a mistake. */
const LIMIT_S_MAX = 604_800;
/** Requests about one call: the limit of the answer ends it after a minute. */
const TRIES_MAX = 20;
const PAUSE_MS = 3_000;

/** The limit in seconds that the dialplan names after `inbound` and the number; undefined if it names none. */
export function callLimitOf([word, , limit = '']: readonly string[]): number | undefined {
  const seconds = word === 'inbound' && /^\d{1,6}$/.test(limit) ? Number(limit) : 0;
  return seconds > 0 && seconds <= LIMIT_S_MAX ? seconds : undefined;
}

/** Replaces the limit of the answer by that of the call. Repeated until Asterisk accepts it, or the call is over. Never
 *  rejects. */
export async function setCallLimit(peer: AriContext, call: AriCall): Promise<void> {
  const { limitS } = call;
  if (limitS === undefined) return;
  const query = { variable: 'TIMEOUT(absolute)', value: String(limitS) };
  for (let tries = 0; tries < TRIES_MAX && !call.over.aborted && !call.released; tries++) {
    const path = `channels/${encodeURIComponent(call.channelId)}/variable`;
    const status = await bestEffort(peer, { action: 'limit', method: 'POST', path, query });
    if (status !== undefined && (status <= 299 || isAriNotFound({ status }))) return;
    await pause(peer.clock, PAUSE_MS, call.over);
  }
}
