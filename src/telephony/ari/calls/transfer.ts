// Call transfer: into the dialplan, by SIP REFER, or by adding the destination to the caller's bridge. Music on hold
// plays meanwhile; if the destination does not accept, the call continues with the agent. Source: asterisk §4.3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { TransferTarget } from '../../provider/provider.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import type { AriContext, CallPeer, MediaLeg } from '../rest/peer.ts';
import type { AriCall } from './ari-call.ts';
import { TransferTargetCall } from './transfer-target.ts';

/** Time for a caller's phone to follow a REFER, in addition to the destination's ring time. */
const FOLLOW_MS_MAX = 10_000;

/** Throws TRANSFER_BUSY, TRANSFER_NO_ANSWER, TRANSFER_DECLINED or TRANSFER_FAILED if the transfer failed, and
 *  what `AriClient` throws. */
export async function transferCall(
  peer: CallPeer,
  call: AriCall,
  target: TransferTarget,
  signal: AbortSignal,
): Promise<void> {
  const { leg } = call;
  if (leg === undefined || call.over.aborted || call.transferredTo !== undefined) {
    throw new GatewayError('PBX_CALL_GONE');
  }
  const isCold = target.warm === undefined;
  if (isCold && peer.account.transfer_context !== '') {
    await intoDialplan(peer, call, target, signal);
  } else if (isCold && /^sips?:/i.test(target.to)) {
    await refer(peer, call, target, signal);
  } else {
    // The destination stops ringing when the caller has hung up.
    const either = AbortSignal.any([signal, call.over]);
    await bringIn(peer, call, { leg, target }, either);
  }
}

async function intoDialplan(
  { client, account }: AriContext,
  call: AriCall,
  { to }: TransferTarget,
  signal: AbortSignal,
): Promise<void> {
  call.released = true;
  const extension = to.replace(/^\+/, '');
  const query = { context: account.transfer_context, extension, priority: '1' };
  const path = `channels/${encodeURIComponent(call.channelId)}/continue`;
  try {
    await client.run({ action: 'transfer', method: 'POST', path, query }, signal);
  } catch (error) {
    call.released = false;
    throw error;
  }
  await call.leg?.close();
}

async function refer(
  peer: AriContext,
  call: AriCall,
  { to, ringS }: TransferTarget,
  signal: AbortSignal,
): Promise<void> {
  const path = `channels/${encodeURIComponent(call.channelId)}/redirect`;
  const query = { endpoint: `PJSIP/${to}` };
  call.released = true;
  try {
    await peer.client.run({ action: 'transfer', method: 'POST', path, query }, signal);
  } catch (error) {
    call.released = false;
    throw error;
  }
  // No event reports that the caller's phone does not follow the REFER; without this timer the caller would wait in
  // silence.
  const timer = peer.clock.after(
    ringS * 1_000 + FOLLOW_MS_MAX,
    () => void hangUpChannel(peer, call.channelId),
  );
  call.over.addEventListener('abort', () => timer.cancel(), { once: true });
}

async function bringIn(
  peer: CallPeer,
  call: AriCall,
  { leg, target }: { leg: MediaLeg; target: TransferTarget },
  signal: AbortSignal,
): Promise<void> {
  const { warm } = target;
  const colleague = new TransferTargetCall(peer);
  const { channelId } = colleague;
  try {
    await leg.pause(warm?.callerHears ?? 'music', signal);
    await colleague.ring(call.channelId, target, signal);
    if (warm !== undefined) await colleague.consult(warm.consult, signal);
    await leg.stopPlayback(signal);
    const path = `bridges/${leg.bridgeId}/addChannel`;
    const query = { channel: channelId };
    await peer.client.run({ action: 'bridge', method: 'POST', path, query }, signal);
    signal.throwIfAborted();
    colleague.gone.throwIfAborted();
    // From now on the end of one party's channel ends the other's.
    call.transferredTo = { channelId, bridgeId: leg.bridgeId };
  } catch (error) {
    // The error of an aborted or late request has less information.
    const why = [signal, colleague.gone].find(({ aborted }) => aborted)?.reason ?? error;
    await takeBack(peer, call, { leg, channelId });
    throw why;
  } finally {
    await colleague.done();
  }
  await leg.leaveBridge();
}

/** The caller of a completed transfer has ended: ends the destination's channel. Never rejects. */
export async function endTransferred(
  peer: AriContext,
  { channelId, bridgeId }: NonNullable<AriCall['transferredTo']>,
): Promise<void> {
  const bridge = { action: 'bridge', method: 'DELETE', path: `bridges/${bridgeId}` } as const;
  await Promise.all([hangUpChannel(peer, channelId), bestEffort(peer, bridge)]);
}

/** Takes the caller back into the call with the agent. Never rejects, as the caller may have ended. */
async function takeBack(
  peer: AriContext,
  call: AriCall,
  { leg, channelId }: { leg: MediaLeg; channelId: string },
): Promise<void> {
  await hangUpChannel(peer, channelId);
  if (!call.over.aborted) await leg.resume();
}
