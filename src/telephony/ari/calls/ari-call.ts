// The state of one call at the PBX, from its events. It sends no request.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { PbxInboundCall, PbxStatus } from '../../provider/pbx.ts';
import type { AriChannel, AriEvent } from '../rest/messages.ts';
import type { MediaLeg } from '../rest/peer.ts';
import { type CallFacts, hangupOutcomeOf, UNDIALLED } from './hangup-outcome.ts';

/** Keys received before the call has a media session. */
const EARLY_DIGITS_MAX = 16;

export class AriCall {
  /** Id of the call's first channel: the call's id for other folders. */
  readonly id: string;
  /** The run of a call that we dialled; null for an inbound call. */
  readonly runId: string | null;
  /** False while the dial request is in progress. */
  isPlaced = true;
  /** False until an event or answer shows that the call exists. */
  isKnown = true;
  /** The destination's channel and the bridge of both parties, after a transfer. */
  transferredTo: { channelId: string; bridgeId: string } | undefined;
  /** Whether the call was hung up while the PBX may not have received the request. */
  isUnwanted = false;
  /** Whether its hang-up is being requested. */
  isHangingUp = false;
  /** Limit of the call in seconds, which the dialplan names; undefined if it names none. */
  limitS: number | undefined;
  /** Whether the call continues in the dialplan, where we no longer follow it. */
  released = false;
  /** Whether the caller waits for a place, with audio of Asterisk's own. */
  isWaiting = false;
  /** Whether another process, which is gone, had answered it. */
  isLeft = false;
  /** Result of the codec check, once it has begun: the fault, if Asterisk cannot convert the call's audio. */
  codecFault: Promise<GatewayError | undefined> | undefined;
  readonly #facts: CallFacts;
  #isEntered = false;
  #channelId: string;
  readonly #over = new AbortController();
  #leg: MediaLeg | undefined;
  #earlyDigits = '';
  #isHeld = false;
  #holdEvents = 0;
  #cause = 0;
  #answeredAtMs: number | undefined;

  constructor({ id, runId }: { id: string; runId: string | null }) {
    this.id = id;
    this.#channelId = id;
    this.runId = runId;
    this.#facts = { ...UNDIALLED, inbound: runId === null };
  }

  /** The other party's channel, which requests name. */
  get channelId(): string {
    return this.#channelId;
  }

  /** The other party's telephone has transferred the call to `channelId`, whose party is not on hold. */
  moveTo(channelId: string): void {
    this.#channelId = channelId;
    this.hold(false);
  }

  get direction(): 'inbound' | 'outbound' {
    return this.runId === null ? 'inbound' : 'outbound';
  }

  get answered(): boolean {
    return this.#facts.answered;
  }

  /** Whether the channel is in our application before the answer (early media). */
  get isEntered(): boolean {
    return this.#isEntered;
  }

  /** The channel is in our application. Returns false if that was known. From now on the channel counts as dialled. */
  enter(): boolean {
    if (this.#isEntered) return false;
    this.#isEntered = true;
    this.#facts.dialled = this.#facts.progressed;
    return true;
  }

  /** The call's audio; undefined before it is open. */
  get leg(): MediaLeg | undefined {
    return this.#leg;
  }

  /** Aborted when the call is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  join(leg: MediaLeg): void {
    this.#leg = leg;
    for (const digit of this.#earlyDigits) leg.digit(digit);
    if (this.#isHeld) leg.hold(true);
    this.#earlyDigits = '';
  }

  digit(digit: string): void {
    if (this.#leg !== undefined) this.#leg.digit(digit);
    else if (this.#earlyDigits.length < EARLY_DIGITS_MAX) this.#earlyDigits += digit;
  }

  /** Number of hold events so far: a hold state that was read before the last event is out of date. */
  get holdEvents(): number {
    return this.#holdEvents;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** The caller has put the call on hold (`on`), or has ended the hold. */
  hold(on: boolean): void {
    if (on === this.#isHeld) return;
    this.#isHeld = on;
    this.#leg?.hold(on);
  }

  /** Whether the id is that of a channel or bridge of this call. */
  owns(id: string): boolean {
    const { transferredTo } = this;
    return (
      this.#leg?.owns(id) === true ||
      transferredTo?.channelId === id ||
      transferredTo?.bridgeId === id
    );
  }

  /** Notes the answer. False if the call was answered before. */
  answer(nowMs: number): boolean {
    if (this.#facts.answered) return false;
    this.#facts.answered = true;
    this.#answeredAtMs = nowMs;
    return true;
  }

  /** Whether our side has hung it up. */
  get isCancelled(): boolean {
    return this.#facts.cancelled;
  }

  /** We have requested the call's end. */
  cancel(): void {
    this.#facts.cancelled = true;
  }

  /** We refuse the call, for a hang-up cause that no event reports. */
  refuse(cause: number): void {
    this.#facts.refused = true;
    this.#cause = cause;
  }

  /** Applies an event of dialling, hold or hang-up. Returns whether the phone has just started to ring. */
  take(event: AriEvent): boolean {
    if (event.type === 'ChannelHangupRequest' || event.type === 'ChannelDestroyed') {
      if (event.cause !== 0 && !this.#facts.refused) this.#cause = event.cause;
      noteEnd(this.#facts, event);
    }
    if (event.type === 'ChannelHold' || event.type === 'ChannelUnhold') {
      this.#holdEvents += 1;
      this.hold(event.type === 'ChannelHold');
    }
    if (event.type !== 'Dial') return false;
    this.#facts.dialled = true;
    if (event.dialstatus === '') return false;
    const { dialstatus } = event;
    if (dialstatus !== 'RINGING' && dialstatus !== 'PROGRESS') {
      this.#facts.dialStatus = dialstatus;
      return false;
    }
    const isNew = !this.#facts.progressed;
    this.#facts.progressed = true;
    return isNew;
  }

  /** The call is over. Returns its final status. */
  end(nowMs: number, raw: Record<string, unknown>): PbxStatus {
    this.#over.abort(new GatewayError('PBX_CALL_GONE'));
    const { status, providerStatus } = hangupOutcomeOf(this.#facts, this.#cause);
    const startMs = this.#answeredAtMs;
    const durationS = startMs === undefined ? null : Math.round((nowMs - startMs) / 1_000);
    return this.status(status, providerStatus, { durationS, raw });
  }

  status(
    status: PbxStatus['status'],
    providerStatus: string,
    more: { durationS?: number | null; raw?: Record<string, unknown> } = {},
  ): PbxStatus {
    return {
      callId: this.id,
      runId: this.runId,
      status,
      providerStatus,
      durationS: more.durationS ?? null,
      dedupeKey: `${this.id}:${status}`,
      raw: more.raw ?? {},
    };
  }
}

/** Notes how the call ended. Hang-up cause 32 is that of our own requests. */
export function noteEnd(
  facts: CallFacts,
  event: Extract<AriEvent, { type: 'ChannelHangupRequest' | 'ChannelDestroyed' }>,
): void {
  if (event.tech_cause !== undefined) facts.sipStatus = event.tech_cause;
  if (event.type === 'ChannelHangupRequest' && event.cause !== 32) facts.endedByFarEnd = true;
}

/** The inbound call of a channel: the number is our application's second argument, or the extension. */
export function inboundCall(
  channel: AriChannel,
  { args, isBack }: { args: readonly string[]; isBack: boolean },
): PbxInboundCall {
  const [word, number] = args;
  const { context, exten } = channel.dialplan;
  const to = (word === 'inbound' ? number : word) || exten;
  const raw = { channel: channel.name, state: channel.state, context, exten, args: [...args] };
  return { callId: channel.id, from: channel.caller.number, to, isBack, raw };
}

/** The facts of an event for the run's log, without addresses and names. */
export function rawOf(event: AriEvent, channel: AriChannel): Record<string, unknown> {
  const facts: Record<string, unknown> = { type: event.type, channel: channel.name };
  for (const key of ['cause', 'cause_txt', 'tech_cause', 'dialstatus', 'timestamp']) {
    if (key in event) facts[key] = event[key];
  }
  return facts;
}
