// Handing a caller over: into the dialplan, by SIP REFER, or by bringing somebody else into their bridge.
// The caller hears music meanwhile; if nobody comes, the call goes on as it was. Source: asterisk.md §4.3.

import { GatewayError } from '../../errors.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { AriCall } from './ari-call.ts';
import { dialQuery } from './endpoint.ts';
import type { AriEvent } from './messages.ts';
import { type CallFacts, outcomeOf } from './outcome.ts';
import type { AriPeer, Leg } from './peer.ts';

const TAKE_BACK_MS_MAX = 5_000;
/** For a caller's phone to follow a REFER, beyond the time in which the destination may ring. */
const FOLLOW_MS_MAX = 10_000;

export interface HandOver {
  to: string;
  callerId: string;
  ringS: number;
}

/** Throws TRANSFER_BUSY, TRANSFER_NO_ANSWER or TRANSFER_FAILED if nobody answered, and what `AriClient` throws. */
export async function handOver(
  peer: AriPeer,
  call: AriCall,
  target: HandOver,
  signal: AbortSignal,
): Promise<void> {
  const { leg } = call;
  if (leg === undefined || call.over.aborted || call.handedTo !== undefined) {
    throw new GatewayError('PBX_CALL_GONE');
  }
  if (peer.account.transfer_context !== '') {
    await intoDialplan(peer, call, target, signal);
  } else if (/^sips?:/i.test(target.to)) {
    await refer(peer, call, target, signal);
  } else {
    // Nobody's phone rings on for a caller who has left.
    const either = AbortSignal.any([signal, call.over]);
    await bringIn(peer, call, { leg, target }, either);
  }
}

async function intoDialplan(
  { client, account }: AriPeer,
  call: AriCall,
  { to }: HandOver,
  signal: AbortSignal,
): Promise<void> {
  call.letGo = true;
  const extension = to.replace(/^\+/, '');
  const query = { context: account.transfer_context, extension, priority: '1' };
  const path = `channels/${encodeURIComponent(call.id)}/continue`;
  try {
    await client.run({ action: 'transfer', method: 'POST', path, query }, signal);
  } catch (error) {
    call.letGo = false;
    throw error;
  }
  await call.leg?.close();
}

async function refer(
  peer: AriPeer,
  call: AriCall,
  { to, ringS }: HandOver,
  signal: AbortSignal,
): Promise<void> {
  const path = `channels/${encodeURIComponent(call.id)}/redirect`;
  const query = { endpoint: `PJSIP/${to}` };
  call.letGo = true;
  try {
    await peer.client.run({ action: 'transfer', method: 'POST', path, query }, signal);
  } catch (error) {
    call.letGo = false;
    throw error;
  }
  // Nothing tells whether their phone follows: who does not would wait in silence.
  const timer = peer.clock.after(ringS * 1_000 + FOLLOW_MS_MAX, () => void hangUp(peer, call.id));
  call.over.addEventListener('abort', () => timer.cancel(), { once: true });
}

/** Never rejects. */
async function hangUp({ client, clock, log }: AriPeer, callId: string): Promise<void> {
  const deadline = deadlineSignal(clock, TAKE_BACK_MS_MAX, 'hang up');
  const path = `channels/${encodeURIComponent(callId)}`;
  try {
    await client.ask({ action: 'hang-up', method: 'DELETE', path }, deadline.signal);
  } catch (error) {
    log.warn({ err: error }, 'a caller who was referred was not hung up');
  } finally {
    deadline.done();
  }
}

async function bringIn(
  peer: AriPeer,
  call: AriCall,
  { leg, target }: { leg: Leg; target: HandOver },
  signal: AbortSignal,
): Promise<void> {
  const channelId = peer.ids.make('t');
  try {
    await leg.pause(signal);
    await ringUp(peer, call, { channelId, target }, signal);
    // From now on the end of one is that of the other.
    call.handedTo = { channelId, bridgeId: leg.bridgeId };
    const path = `bridges/${leg.bridgeId}/addChannel`;
    const query = { channel: channelId };
    await stopMusic(peer, leg, signal);
    await peer.client.run({ action: 'bridge', method: 'POST', path, query }, signal);
    signal.throwIfAborted();
  } catch (error) {
    call.handedTo = undefined;
    await takeBack(peer, call, { leg, channelId });
    throw signal.aborted ? signal.reason : error; // A request that was broken off says less.
  }
  await leg.leave();
}

/** The caller may be gone, or the call is being ended: never rejects. */
async function takeBack(
  { client, clock, log }: AriPeer,
  call: AriCall,
  { leg, channelId }: { leg: Leg; channelId: string },
): Promise<void> {
  const deadline = deadlineSignal(clock, TAKE_BACK_MS_MAX, 'take the call back');
  const path = `channels/${channelId}`;
  try {
    await client.ask({ action: 'hang-up', method: 'DELETE', path }, deadline.signal);
    if (!call.over.aborted) await leg.resume(deadline.signal);
  } catch (error) {
    log.warn({ err: error }, 'call not taken back after a transfer that failed');
  } finally {
    deadline.done();
  }
}

/** Settles when somebody has answered. */
async function ringUp(
  peer: AriPeer,
  call: AriCall,
  { channelId, target }: { channelId: string; target: HandOver },
  signal: AbortSignal,
): Promise<void> {
  const { account, client } = peer;
  const { to, callerId, ringS } = target;
  const args = `transfer,${call.id}`;
  const query = dialQuery(account, { channelId, to, callerId, ringS, args });
  query['originator'] = call.id;
  const answered = untilAnswered(peer, channelId, signal);
  try {
    await client.run({ action: 'dial', method: 'POST', path: 'channels', query }, signal);
    await answered.settled;
  } finally {
    answered.stop();
  }
}

function untilAnswered(
  peer: AriPeer,
  channelId: string,
  signal: AbortSignal,
): { settled: Promise<void>; stop(): void } {
  const facts: CallFacts = {
    answered: false,
    progressed: false,
    dialStatus: '',
    cancelled: false,
  };
  let stop = (): void => undefined;
  const settled = new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    const unwatch = peer.watch(channelId, (event: AriEvent) => {
      if (event.type === 'StasisStart') resolve();
      if (event.type === 'Dial') note(facts, event.dialstatus);
      if (event.type !== 'ChannelDestroyed') return;
      reject(notTaken(outcomeOf(facts, event.cause)));
    });
    stop = () => {
      unwatch();
      signal.removeEventListener('abort', onAbort);
    };
  });
  settled.catch(() => undefined); // The request may fail first.
  return { settled, stop: () => stop() };
}

function notTaken({ status, providerStatus }: ReturnType<typeof outcomeOf>): GatewayError {
  if (status === 'busy') return new GatewayError('TRANSFER_BUSY');
  if (status === 'no-answer') return new GatewayError('TRANSFER_NO_ANSWER');
  return new GatewayError('TRANSFER_FAILED', { reason: providerStatus });
}

function note(facts: CallFacts, dialStatus: string): void {
  if (dialStatus === 'RINGING' || dialStatus === 'PROGRESS') facts.progressed = true;
  else if (dialStatus !== '') facts.dialStatus = dialStatus;
}

async function stopMusic(
  { client }: AriPeer,
  { bridgeId }: Leg,
  signal: AbortSignal,
): Promise<void> {
  await client.ask({ action: 'hold', method: 'DELETE', path: `bridges/${bridgeId}/moh` }, signal);
}
