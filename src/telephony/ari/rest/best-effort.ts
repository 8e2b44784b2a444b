// Requests whose failure changes nothing: it is logged, and what asked for them goes on.

import { deadlineSignal } from '../../../std/deadline.ts';
import type { AriRequest } from './client.ts';
import type { AriPeer } from './peer.ts';

const ERRAND_MS_MAX = 5_000;

type Errander = Pick<AriPeer, 'client' | 'clock' | 'log'>;

/** The status of the answer, undefined if there was none. Never rejects. */
export async function errand(
  { client, clock, log }: Errander,
  request: AriRequest,
): Promise<number | undefined> {
  const { action } = request;
  const deadline = deadlineSignal(clock, ERRAND_MS_MAX, action);
  try {
    return (await client.ask(request, deadline.signal)).status;
  } catch (error) {
    log.warn({ err: error, action }, 'a request to the PBX failed');
    return undefined;
  } finally {
    deadline.done();
  }
}

/** `reason` as Asterisk has it; default: normal. Never rejects. */
export async function hangUpChannel(
  peer: Errander,
  channelId: string,
  reason = 'normal',
): Promise<void> {
  await errand(peer, {
    action: 'hang-up',
    method: 'DELETE',
    path: `channels/${encodeURIComponent(channelId)}`,
    query: { reason },
  });
}
