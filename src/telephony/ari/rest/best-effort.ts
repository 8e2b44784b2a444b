// Best-effort requests: a failure is logged and changes nothing for the caller of these functions.

import { deadlineSignal } from '../../../std/deadline.ts';
import type { AriRequest } from './client.ts';
import type { AriContext } from './peer.ts';

const ERRAND_MS_MAX = 5_000;

/** The doctor's requests have no connection. */
type Errander = Pick<AriContext, 'client' | 'clock' | 'log'> & Partial<Pick<AriContext, 'state'>>;

/** The status of the answer; undefined without one. Never rejects. While the PBX is away nothing is logged here: its
 *  connection has logged that. */
export async function bestEffort(peer: Errander, request: AriRequest): Promise<number | undefined> {
  const { client, clock, log } = peer;
  const { action } = request;
  const deadline = deadlineSignal(clock, ERRAND_MS_MAX, action);
  try {
    return (await client.send(request, deadline.signal)).status;
  } catch (error) {
    const level = (peer.state?.kind ?? 'up') === 'up' ? 'warn' : 'debug';
    log[level]({ err: error, action }, 'a request to the PBX failed');
    return undefined;
  } finally {
    deadline.done();
  }
}

/** Hangs up a channel. `reason` in Asterisk's terms, or a hang-up cause as a number; default: normal. Result as in
 *  `bestEffort`. */
export function hangUpChannel(
  peer: Errander,
  channelId: string,
  reason = 'normal',
): Promise<number | undefined> {
  return bestEffort(peer, {
    action: 'hang-up',
    method: 'DELETE',
    path: `channels/${encodeURIComponent(channelId)}`,
    query: Object.fromEntries([[/^\d+$/.test(reason) ? 'reason_code' : 'reason', reason]]),
  });
}
