// The destination of a transfer: its channel, from before its creation until both parties are joined or it has ended.
// In a warm transfer it first has a bridge and audio of its own. Source: asterisk §4.2, §4.3.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { TransferTarget } from '../../provider/provider.ts';
import type { AriEvent } from '../rest/messages.ts';
import type { CallPeer, MediaLeg } from '../rest/peer.ts';
import { noteEnd } from './ari-call.ts';
import { dialQuery } from './dial-endpoint.ts';
import { type CallFacts, hangupOutcomeOf, UNDIALLED } from './hangup-outcome.ts';

export class TransferTargetCall {
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
    const { callerId, ringS, warm } = target;
    const to = warm === undefined ? target.to : endpointOfOwn(account.transfer_context, target.to);
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
