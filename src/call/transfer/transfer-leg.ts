// A warm transfer at a provider that joins calls but does not carry the transfer out: the gateway dials the
// destination, announces the caller over a media socket of its own, and sends the provider the request that joins both.
// Until then the caller gets a tone. After a failure before the join the caller returns to the agent.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { TransferOutcome } from '../../model/call-event.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { MediaSession } from '../../telephony/provider/media-session.ts';
import type { WarmTransfer } from '../../telephony/provider/pbx.ts';
import type { ProviderHangUp } from '../end/closing/provider-hang-up.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';

/** Time in addition to the ring time: a provider begins to dial within a few seconds. Its report that there was no
 *  answer may be lost, and the caller waits meanwhile. */
const RUNG_MS_EXTRA = 10_000;
/** Deadline of the destination's media. A provider opens the media of an answered call within two or three seconds. */
const MEDIA_MS_MAX = 10_000;
/** Deadline of the join. Both calls are redirected within a second or two. */
const JOIN_MS_MAX = 10_000;
/** Longest call of the destination, in seconds, and with it of the conversation that follows: four hours, which all
 *  providers allow except those with shorter limits. */
const CALL_S_MAX = 14_400;

export type TransferPlan = Pick<CallPlan, 'run' | 'provider' | 'configuration'>;

/** Listener to the destination's call, as its provider reports it. */
export interface TransferLegListener {
  onProgress(outcome: TransferOutcome, providerStatus: string): void;
  onMedia(media: MediaSession): void;
}

/** Addresses of one transfer, from its dial to its end. */
export interface OpenTransferLeg {
  readonly id: string;
  readonly answerUrl: string;
  readonly resultUrl: string;
  readonly documentUrl: string;
  /** The provider's id of the destination's call, once it is known. */
  readonly callId: string | undefined;
  /** Stores the provider's id of the destination's call. */
  dialled(callId: string): void;
  /** Stops the delivery of events. */
  close(): void;
}

export interface TransferLegs {
  open(plan: TransferPlan, listener: TransferLegListener): OpenTransferLeg;
}

export interface LegTransferDeps {
  plan: TransferPlan;
  legs: TransferLegs;
  hangUps: ProviderHangUp;
  /** Aborted when the caller has hung up. */
  callerGone: AbortSignal;
  /** Plays this sound to the caller, without recognising speech, until `null`. */
  onWait: CallAudio['away'];
  /** Called when the two calls are joined. */
  onJoined(leg: OpenTransferLeg): void;
  clock: Clock;
  log: Log;
}

export interface LegTransfer {
  /** The caller's call. */
  callId: string;
  /** The destination, in the provider's format. */
  to: string;
  from: string;
  ringS: number;
  /** Keys to press once the destination has answered, where the provider presses them; `w` is half a second. */
  digits: string;
  /** Whether the destination is a queue, whose announcements may be taken for an answering machine. */
  isQueue: boolean;
  warm: WarmTransfer;
}

/** Transfers the caller; settles when both calls are joined. Throws TRANSFER_BUSY, TRANSFER_NO_ANSWER,
 *  TRANSFER_MACHINE, TRANSFER_DECLINED, TRANSFER_FAILED, PROVIDER_*, and the signal's reason. */
export async function transferByLeg(
  deps: LegTransferDeps,
  wanted: LegTransfer,
  signal: AbortSignal,
): Promise<void> {
  const { plan, legs, callerGone, clock } = deps;
  const destination = new Destination(clock, wanted.isQueue);
  const leg = legs.open(plan, destination);
  const ends = [destination.gone, callerGone, signal];
  const either = AbortSignal.any(ends);
  let isJoined = false;
  deps.onWait(wanted.warm.callerHears);
  try {
    await dial(plan, leg, wanted);
    either.throwIfAborted();
    destination.ring(wanted.ringS * 1_000 + RUNG_MS_EXTRA);
    const media = await destination.media(either);
    if (wanted.digits !== '') await press(plan, leg, wanted.digits, either);
    await wanted.warm.consult(media, either);
    either.throwIfAborted();
    await join(deps, leg, wanted.callId);
    isJoined = true;
    // The caller's media may stay open until the run is closed.
    deps.onWait('silence');
    deps.onJoined(leg);
  } catch (error) {
    // The error of an aborted request has less information.
    throw ends.find(({ aborted }) => aborted)?.reason ?? error;
  } finally {
    if (!isJoined) abandon(deps, leg);
    destination.close();
    leg.close();
  }
}

/** Dials the destination. Not aborted: the id of a sent dial is needed to hang it up. */
async function dial(
  { run, provider, configuration }: TransferPlan,
  leg: OpenTransferLeg,
  { to, from, ringS }: LegTransfer,
): Promise<void> {
  const { resultUrl, answerUrl, id: runId } = leg;
  const callS = Math.min(CALL_S_MAX, provider.capabilities.callS.max);
  const request = {
    runId,
    from,
    to,
    answerUrl,
    ringS,
    callS,
    statusUrl: resultUrl,
    answeredByUrl: resultUrl,
  };
  const { signal } = new AbortController();
  const { callId } = await provider.control.dial(configuration.credentials, request, signal);
  leg.dialled(callId);
  if (callId === run.providerCallId) throw new GatewayError('TRANSFER_FAILED', { reason: 'loop' });
}

async function press(
  { provider, configuration }: TransferPlan,
  { callId }: OpenTransferLeg,
  digits: string,
  signal: AbortSignal,
): Promise<void> {
  if (callId === undefined) return;
  await provider.control.sendDigits?.(configuration.credentials, callId, digits, signal);
}

async function join(
  { plan, clock }: LegTransferDeps,
  { callId: legId, id: name, documentUrl }: OpenTransferLeg,
  callId: string,
): Promise<void> {
  const { provider, configuration } = plan;
  if (legId === undefined) throw new GatewayError('TRANSFER_FAILED', { reason: 'no call' });
  const deadline = deadlineSignal(clock, JOIN_MS_MAX, 'join two calls');
  try {
    const calls = { callId, legId, name, documentUrl };
    await provider.control.join?.(configuration.credentials, calls, deadline.signal);
  } finally {
    deadline.done();
  }
}

function abandon({ plan, hangUps, onWait }: LegTransferDeps, { callId }: OpenTransferLeg): void {
  onWait(null);
  if (callId !== undefined) void hangUps.attempt(plan, callId, plan.run.id);
}

class Destination implements TransferLegListener {
  readonly #clock: Clock;
  readonly #isQueue: boolean;
  readonly #gone = new AbortController();
  #isAnswered = false;
  #isClosed = false;
  #media: MediaSession | undefined;
  #onMedia: (media: MediaSession) => void = () => undefined;
  #cancelWait: () => void = () => undefined;

  constructor(clock: Clock, isQueue: boolean) {
    this.#clock = clock;
    this.#isQueue = isQueue;
  }

  /** Signal that the destination is gone, aborted with the reason. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Waits at most this time for an answer. */
  ring(ms: number): void {
    if (!this.#isAnswered) this.#limit(ms, new GatewayError('TRANSFER_NO_ANSWER'));
  }

  onProgress(outcome: TransferOutcome, providerStatus: string): void {
    if (outcome === 'answered') this.#answered();
    const error = this.#errorOf(outcome, providerStatus);
    if (error !== undefined) this.#gone.abort(error);
  }

  onMedia(media: MediaSession): void {
    // The media were admitted before the end of the transfer, or opened a second time.
    if (this.#isClosed || this.#media !== undefined) {
      media.close('unwanted');
      return;
    }
    this.#answered();
    this.#cancelWait();
    this.#media = media;
    this.#onMedia(media);
  }

  /** The destination's media, after its answer. Throws the reason of `signal`. */
  media(signal: AbortSignal): Promise<MediaSession> {
    if (this.#media !== undefined) return Promise.resolve(this.#media);
    return new Promise((resolve, reject) => {
      this.#onMedia = resolve;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelWait();
    this.#media?.close('over');
  }

  #answered(): void {
    if (this.#isAnswered || this.#isClosed) return;
    this.#isAnswered = true;
    this.#limit(MEDIA_MS_MAX, new GatewayError('TRANSFER_FAILED', { reason: 'no audio' }));
  }

  #limit(ms: number, error: GatewayError): void {
    this.#cancelWait();
    const timer = this.#clock.after(ms, () => this.#gone.abort(error));
    this.#cancelWait = () => timer.cancel();
  }

  #errorOf(outcome: TransferOutcome, providerStatus: string): GatewayError | undefined {
    switch (outcome) {
      case 'busy':
        return new GatewayError('TRANSFER_BUSY');
      case 'no-answer':
      case 'canceled':
        return new GatewayError('TRANSFER_NO_ANSWER');
      case 'answering-machine':
        return this.#isQueue ? undefined : new GatewayError('TRANSFER_MACHINE');
      case 'failed':
        return new GatewayError('TRANSFER_FAILED', { reason: providerStatus });
      case 'completed':
        return this.#isAnswered
          ? new GatewayError('TRANSFER_DECLINED', { reason: 'the destination hung up' })
          : new GatewayError('TRANSFER_NO_ANSWER');
      default:
        return undefined;
    }
  }
}
