// Call transfer: into the dialplan, by SIP REFER, or by adding the destination to the caller's bridge. Music on hold
// plays meanwhile; if the destination does not accept, the call continues with the agent. In a warm transfer the
// destination first has a bridge and audio of its own. Source: asterisk §4.2, §4.3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { pause } from '../../../std/pause.ts';
import type { TransferTarget } from '../../provider/provider.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import type { AriEvent } from '../rest/messages.ts';
import type { AriContext, CallPeer, MediaLeg } from '../rest/peer.ts';
import { type AriCall, noteEnd } from './ari-call.ts';
import { dialQuery } from './dial-endpoint.ts';
import { type CallFacts, hangupOutcomeOf, UNDIALLED } from './hangup-outcome.ts';

/** Length of a key and of the pause after it, and of a `w`. */
const KEY_MS = 100;
const PAUSE_MS = 500;
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
  // The dialplan presses no keys for us.
  const isCold = target.warm === undefined && target.digits === undefined;
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

/** Sends a caller without media into the transfer context. False, without a request, if the account has none. Throws what
 *  `AriClient` throws. */
export async function forwardIntoDialplan(
  peer: AriContext,
  call: AriCall,
  target: TransferTarget,
  signal: AbortSignal,
): Promise<boolean> {
  if (peer.account.transfer_context === '') return false;
  await intoDialplan(peer, call, target, signal);
  return true;
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
    if (target.digits !== undefined) await colleague.press(target.digits, signal);
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

class TransferTargetCall {
  readonly channelId: string;
  readonly #peer: CallPeer;
  readonly #unwatch: () => void;
  readonly #gone = new AbortController();
  readonly #facts: CallFacts = { ...UNDIALLED };
  #onAnswer: () => void = () => undefined;
  #leg: MediaLeg | undefined;

  constructor(peer: CallPeer) {
    this.#peer = peer;
    this.channelId = peer.ids.make('t');
    this.#unwatch = peer.watch(this.channelId, (event) => this.#take(event));
  }

  /** Aborted with the reason: TRANSFER_BUSY, TRANSFER_NO_ANSWER, TRANSFER_FAILED before an answer, and
   *  TRANSFER_DECLINED when the destination hangs up after it. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Settles when the destination has answered. Throws the reason of `gone` and what `AriClient` throws. */
  async ring(callId: string, target: TransferTarget, signal: AbortSignal): Promise<void> {
    const { account, client } = this.#peer;
    const { callerId, ringS, warm, digits } = target;
    const isDirect = warm === undefined && digits === undefined;
    const to = isDirect ? target.to : endpointOfOwn(account.transfer_context, target.to);
    const args = `transfer,${callId}`;
    // The originator's formats are used; Asterisk refuses a request that names both.
    const dialled = {
      channelId: this.channelId,
      to,
      callerId,
      ringS,
      mediaFormat: undefined,
      args,
    };
    const query = { ...dialQuery(account, dialled), originator: callId };
    const either = AbortSignal.any([signal, this.gone]);
    const answered = new Promise<void>((resolve, reject) => {
      this.#onAnswer = resolve;
      either.addEventListener('abort', () => reject(either.reason as Error), { once: true });
    });
    answered.catch(() => undefined); // The request may fail first.
    await client.run({ action: 'dial', method: 'POST', path: 'channels', query }, either);
    await answered;
  }

  /** Presses keys at the destination, which has answered. Settles after the last one. Throws the reason of `gone` and what
   *  `AriClient` throws. */
  async press(digits: string, signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#peer;
    const either = AbortSignal.any([signal, this.gone]);
    const path = `channels/${encodeURIComponent(this.channelId)}/dtmf`;
    for (const [part] of digits.matchAll(/w+|[^w]+/g)) {
      if (part.startsWith('w')) {
        await pause(clock, part.length * PAUSE_MS, either);
        continue;
      }
      const query = { dtmf: part, duration: String(KEY_MS), between: String(KEY_MS) };
      await client.run({ action: 'digits', method: 'POST', path, query }, either);
      await pause(clock, part.length * 2 * KEY_MS, either);
    }
  }

  /** Settles when the destination accepts the call; it is not in the caller's bridge yet. Throws the reason of
   *  `gone` or of the refusal, PBX_MEDIA and what `AriClient` throws. */
  async consult(
    consult: NonNullable<TransferTarget['warm']>['consult'],
    signal: AbortSignal,
  ): Promise<void> {
    const lost = new AbortController();
    const either = AbortSignal.any([signal, this.gone, lost.signal]);
    const reason = 'the audio to the destination was lost';
    const onClosed = (): void => lost.abort(new GatewayError('PBX_MEDIA', { reason }));
    const leg = await this.#peer.openLeg(
      { peer: this.#peer, callId: this.channelId, channelId: this.channelId, onClosed },
      either,
    );
    this.#leg = leg;
    await consult(leg.media, either);
    either.throwIfAborted();
  }

  /** Ends the destination's bridge and audio, but not its channel. Never rejects. */
  async done(): Promise<void> {
    this.#unwatch();
    await this.#leg?.close();
  }

  #take(event: AriEvent): void {
    if (event.type === 'StasisStart') {
      this.#facts.answered = true;
      this.#onAnswer();
    } else if (event.type === 'Dial') {
      note(this.#facts, event.dialstatus);
    } else if (event.type === 'ChannelDtmfReceived') {
      this.#leg?.digit(event.digit);
    } else if (event.type === 'ChannelHold' || event.type === 'ChannelUnhold') {
      this.#leg?.hold(event.type === 'ChannelHold');
    } else if (event.type === 'ChannelHangupRequest') {
      noteEnd(this.#facts, event);
    } else if (event.type === 'ChannelDestroyed') {
      noteEnd(this.#facts, event);
      this.#gone.abort(whyGone(this.#facts, event.cause));
    } else if (event.type === 'StasisEnd') {
      this.#gone.abort(whyGone(this.#facts, 0));
    }
  }
}

/** A number is dialled through the transfer context of the dialplan. */
function endpointOfOwn(transferContext: string, to: string): string {
  const isNumber = /^\+?[\w*#]+$/.test(to);
  if (transferContext === '' || !isNumber) return to;
  return `Local/${to.replace(/^\+/, '')}@${transferContext}/n`;
}

function whyGone(facts: CallFacts, cause: number): GatewayError {
  if (facts.answered) return new GatewayError('TRANSFER_DECLINED', { reason: 'they hung up' });
  const { status, providerStatus } = hangupOutcomeOf(facts, cause);
  if (status === 'busy') return new GatewayError('TRANSFER_BUSY');
  if (status === 'no-answer') return new GatewayError('TRANSFER_NO_ANSWER');
  return new GatewayError('TRANSFER_FAILED', { reason: providerStatus });
}

function note(facts: CallFacts, dialStatus: string): void {
  if (dialStatus === 'RINGING' || dialStatus === 'PROGRESS') facts.progressed = true;
  else if (dialStatus !== '') facts.dialStatus = dialStatus;
}
