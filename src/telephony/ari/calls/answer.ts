// The answer of an inbound call. Source: asterisk §4.1.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { READ_ONLY } from '../rest/client.ts';
import type { AriContext } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';

/** Answers the call. False if it was answered before. Throws PBX_CALL_GONE, PBX_MEDIA and what `AriClient` throws. */
export async function answerCall(
  { client, clock }: Pick<AriContext, 'client' | 'clock'>,
  call: AriCall,
  signal: AbortSignal,
): Promise<boolean> {
  if (call.answered || call.direction === 'outbound') return false;
  const path = `channels/${encodeURIComponent(call.channelId)}/answer`;
  const { status } = await client.send({ action: 'answer', method: 'POST', path }, signal);
  if (status === 404 || status === 409) throw new GatewayError('PBX_CALL_GONE');
  if (status > 299) {
    const why = status === 403 ? `: ${READ_ONLY}` : '';
    throw new GatewayError('PBX_MEDIA', { reason: `the answer was refused (${status})${why}` });
  }
  return call.answer(clock.monotonicMs());
}
