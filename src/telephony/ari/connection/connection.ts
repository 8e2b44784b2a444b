// One configuration's Asterisk: events of its Stasis application become calls that ring, are answered and end;
// `call/start/inbound` connects, rejects and transfers them. Source: asterisk §0, §4.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { pbxEvents } from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { parseJson } from '../../../std/json.ts';
import type { Random } from '../../../std/random.ts';
import type { MediaSession } from '../../provider/media-session.ts';
import type { PbxConnection, PbxListener, PbxState } from '../../provider/pbx.ts';
import type { TransferTarget } from '../../provider/provider.ts';
import type { ProviderCredentials } from '../../provider/terms.ts';
import { UnconfiguredNumbers } from '../../provider/unconfigured-numbers.ts';
import { answerCall } from '../calls/answer.ts';
import { AriCall, inboundCall, rawOf } from '../calls/ari-call.ts';
import { giveUp } from '../calls/away.ts';
import { callLimitOf, setCallLimit } from '../calls/call-limit.ts';
import type { CallTable } from '../calls/call-table.ts';
import { codecFault } from '../calls/codec-check.ts';
import { isDialled } from '../calls/dial-endpoint.ts';
import { hangUpUntilTaken } from '../calls/hang-up.ts';
import { rejectReasons, unreachableReason } from '../calls/hangup-outcome.ts';
import { TelephoneWatch } from '../calls/telephone-watch.ts';
import { endTransferred, transferCall } from '../calls/transfer.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import { type ChannelIds, createChannelIds } from '../rest/channel-ids.ts';
import { type AriAnswer, type AriClient, type AriRequest, isWriteRefused } from '../rest/client.ts';
import { type AriAccount, accountOf } from '../rest/config.ts';
import {
  type AriChannel,
  type AriEvent,
  ariEvent,
  channelOf,
  isEnd,
  isInApplication,
  type StasisStart,
} from '../rest/messages.ts';
import type { CallPeer, OpenLeg } from '../rest/peer.ts';
import type { AriSocket, AriSocketListener } from './ari-socket.ts';
import {
  type ConnectionFault,
  readOnlyFault,
  requestFault,
  takenFault,
} from './connection-fault.ts';
import { type Reconciliation, ReconciliationFaults, reconcile } from './reconciliation.ts';

const RESYNC_MS_MAX = 15_000;
/** Pause after a dial without an answer: if Asterisk accepted it, the channel exists by then. */
const LOOK_MS = 2_000;
/** Longest time until an answer, above any ring time: Asterisk ends the channel before, unless it was created and never
 *  dialled. */
const RING_MS_MAX = 180_000;

export interface AriConnectionOptions {
  account: AriAccount;
  /** `onAnswer` gets every answer. */
  clientOf: (
    account: AriAccount,
    onAnswer: (request: AriRequest, answer: AriAnswer) => void,
  ) => AriClient;
  listener: PbxListener;
  openLeg: OpenLeg;
  openSocket: (account: AriAccount, listener: AriSocketListener) => AriSocket;
  held: CallTable;
  clock: Clock;
  random: Random;
  log: Log;
  onClosed: () => void;
}

export class AriConnection implements PbxConnection, CallPeer {
  account: AriAccount;
  client: AriClient;
  readonly ids: ChannelIds;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly openLeg: OpenLeg;
  readonly unconfigured = new UnconfiguredNumbers();
  version: string | null = null;
  readonly #options: AriConnectionOptions;
  readonly #listener: PbxListener;
  #socket: AriSocket;
  readonly #held: CallTable;
  readonly #telephones: TelephoneWatch;
  readonly #abort = new AbortController();
  #state: PbxState = { kind: 'connecting' };
  /** Number of the current link: a reconciliation of an earlier link is void. */
  #link = 0;
  readonly #faults = new ReconciliationFaults();

  constructor(options: AriConnectionOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#held = options.held;
    this.#telephones = new TelephoneWatch(this, options.held.telephones);
    this.account = options.account;
    this.client = this.#clientOf(options.account);
    this.clock = options.clock;
    this.random = options.random;
    this.log = options.log;
    this.openLeg = options.openLeg;
    this.ids = createChannelIds(options.account.app, options.random);
    this.#socket = this.#openSocket();
  }

  get state(): PbxState {
    return this.#state;
  }

  watch(channelId: string, take: (event: AriEvent) => void): () => void {
    return this.#held.watch(channelId, take);
  }

  // Requests of `call/start/inbound`.

  async ring(callId: string): Promise<void> {
    const call = this.#held.calls.get(callId);
    // Meanwhile the call is prepared.
    if (call !== undefined) void this.#codecFault(call);
    const path = `channels/${encodeURIComponent(callId)}/ring`;
    await bestEffort(this, { action: 'ring', method: 'POST', path });
  }

  async openMedia(callId: string, signal: AbortSignal): Promise<MediaSession> {
    const call = this.#held.calls.get(callId);
    if (call === undefined || call.leg !== undefined) throw new GatewayError('PBX_CALL_GONE');
    const isEarly = call.direction === 'outbound' && !call.answered;
    try {
      const either = AbortSignal.any([signal, call.over]);
      const codecs = isEarly ? undefined : this.#codecFault(call);
      if (!call.answered) await requireNone(codecs);
      if (await answerCall(this, call, either)) this.#answered(call);
      void setCallLimit(this, call);
      const onClosed = () => this.#mediaClosed(callId);
      const { channelId } = call;
      const leg = await this.openLeg({ peer: this, callId, channelId, onClosed }, either);
      const fault = await codecs;
      if (call.over.aborted || fault !== undefined) {
        void leg.close();
        throw fault ?? new GatewayError('PBX_CALL_GONE');
      }
      call.join(leg);
      return leg.media;
    } catch (error) {
      // A call that we dialled continues to ring. When it is answered, its media are requested again.
      if (!isEarly) void giveUp(this, { held: this.#held, call }, error);
      throw error;
    }
  }

  #codecFault(call: AriCall): Promise<GatewayError | undefined> {
    call.codecFault ??= codecFault(this, call.channelId, call.over);
    return call.codecFault;
  }

  async refuse(...[callId, reason, number]: Parameters<PbxConnection['refuse']>): Promise<void> {
    if (number !== undefined) this.unconfigured.note(number, this.clock.now());
    const call = this.#held.calls.get(callId);
    if (call === undefined) await hangUpChannel(this, callId, rejectReasons[reason]);
    else await hangUpUntilTaken(this, call, rejectReasons[reason]);
  }

  renew(credentials: ProviderCredentials): boolean {
    const account = accountOf(credentials);
    if (account.app !== this.account.app) return false;
    this.#socket.close();
    this.#link += 1;
    this.account = account;
    this.client = this.#clientOf(account);
    this.#become({ kind: 'connecting' });
    this.#socket = this.#openSocket();
    return true;
  }

  close(): Promise<void> {
    this.#socket.close();
    this.#abort.abort();
    this.#options.onClosed();
    return Promise.resolve();
  }

  // Requests of the provider's control.

  /** Registers a call that is about to be dialled: its events come before the answer to the request. */
  dialling(callId: string, runId: string): void {
    const call = new AriCall({ id: callId, runId });
    call.isPlaced = false;
    call.isKnown = false;
    this.#held.calls.set(callId, call);
  }

  /** Notes the result of the dial. `uncertain`: Asterisk may or may not have accepted it. */
  dialled(callId: string, how: 'placed' | 'uncertain' | 'refused'): void {
    const call = this.#held.calls.get(callId);
    if (call === undefined) return;
    call.isPlaced = true;
    if (how === 'placed') call.isKnown = true;
    if (how === 'refused') this.#held.remove(call);
    if (how === 'uncertain') this.clock.after(LOOK_MS, () => void this.#look(call));
  }

  get held(): Pick<CallTable, 'calls' | 'isSentAway'> {
    return this.#held;
  }

  /** Transfers the call. Throws PBX_CALL_GONE, TRANSFER_UNSUPPORTED, PROVIDER_*: the call then continues with the
   *  agent. */
  async handOver(callId: string, target: TransferTarget, signal: AbortSignal): Promise<void> {
    const call = this.#held.calls.get(callId);
    if (call === undefined) throw new GatewayError('PBX_CALL_GONE');
    await transferCall(this, call, target, signal);
  }

  // The link.

  #clientOf(account: AriAccount): AriClient {
    return this.#options.clientOf(account, (request, answer) => {
      if (isWriteRefused(request, answer)) this.#writeRefused();
    });
  }

  /** The user lost the right to write while the link was up. Without our socket Asterisk passes no further callers to
   *  our application. */
  #writeRefused(): void {
    if (this.#state.kind !== 'up') return;
    const fault = readOnlyFault(this.account);
    const { code, message } = fault;
    this.log.error({ code, message }, 'the PBX refuses to answer and to hang up calls');
    this.#socket.reopen(fault);
  }

  #openSocket(): AriSocket {
    return this.#options.openSocket(this.account, {
      onOpen: () => void this.#up(),
      onMessage: (text) => this.#message(text),
      onDown: (why) => this.#down(why),
    });
  }

  async #up(): Promise<void> {
    this.#link += 1;
    const link = this.#link;
    const deadline = deadlineSignal(this.clock, RESYNC_MS_MAX, 'resync', this.#abort.signal);
    try {
      const found = await reconcile(this, this.#held, deadline.signal);
      if (link !== this.#link || this.#abort.signal.aborted) return;
      this.version = found.version;
      this.#become({ kind: 'up', version: found.version });
      this.#catchUp(found);
      await found.cleanUp();
    } catch (error) {
      if (link !== this.#link || this.#abort.signal.aborted) return;
      this.#faults.note(this, error);
      this.#socket.reopen(requestFault(this.account, error));
    } finally {
      deadline.done();
    }
  }

  #catchUp(found: Reconciliation): void {
    for (const { before, channel } of found.replaced) this.#replaced(before, channel);
    for (const call of found.ended) this.#end(call, { type: 'lost' });
    const unwanted = [...this.#held.calls.values()].filter(({ isUnwanted }) => isUnwanted);
    for (const { channelId } of [...found.partnerEnded, ...unwanted])
      void hangUpChannel(this, channelId);
    for (const { call, isHeld, holdEvents } of found.holds) {
      if (call.holdEvents === holdEvents) call.hold(isHeld);
    }
    for (const { channel, handedTo } of found.transferred) this.#restore(channel, handedTo);
    for (const event of found.missedEvents) this.#held.dispatch(channelOf(event)?.id ?? '', event);
    for (const { channel, args } of found.ringing) this.#inbound(channel, args);
    for (const channel of found.dialled) this.#adopt(channel);
  }

  #restore(channel: AriChannel, handedTo: NonNullable<AriCall['transferredTo']>): void {
    const { id } = channel;
    if (this.#held.calls.has(id)) return;
    const call = new AriCall({ id, runId: this.ids.runOf(id) ?? null });
    call.answer(this.clock.monotonicMs());
    call.transferredTo = handedTo;
    this.#held.calls.set(id, call);
  }

  #down({ code, message, isPermanent }: ConnectionFault): void {
    this.#link += 1;
    this.#become({ kind: 'down', code, message, isPermanent });
  }

  #become(state: PbxState): void {
    this.#state = state;
    this.#listener.onState(state);
  }

  // Events.

  #message(text: string): void {
    const event = ariEvent.safeParse(parseJson(text));
    pbxEvents.inc({ provider: 'ari', result: event.success ? 'taken' : 'passed_over' });
    if (!event.success) return; // An event type that we do not use.
    try {
      this.#take(event.data);
    } catch (error) {
      this.log.error({ err: error, type: event.data.type }, 'an event of the PBX failed');
    }
  }

  #take(event: AriEvent): void {
    if (event.type === 'ApplicationReplaced') {
      this.#socket.reopen(takenFault(this.account));
      return;
    }
    const channel = channelOf(event);
    if (channel === undefined) return;
    if (event.type === 'Dial') this.#telephones.dialled(event);
    const held = this.#held.telephones.translated(event);
    if (held !== undefined) this.#take(held);
    const isWatched = this.#held.dispatch(channel.id, event);
    if (event.type === 'ChannelDestroyed') this.#held.destroyed(channel.id);
    // The other party of a completed transfer has ended, so the caller is alone.
    const left = isEnd(event) ? this.#held.handedTo(channel.id) : [];
    for (const { channelId } of left) void hangUpChannel(this, channelId);
    const kind = this.ids.kindOf(channel.id);
    if (kind === 'm' || kind === 't' || kind === 'd') {
      this.#ofLeg(event, channel.id, isWatched);
      return;
    }
    const call = this.#held.onChannel(channel.id);
    if (event.type === 'StasisStart') this.#started(call, channel, event);
    else if (call !== undefined) this.#ofCall(call, event, channel);
  }

  /** An event of an additional channel that we created for a call, or of the doctor's test call: it starts no agent. */
  #ofLeg(event: AriEvent, id: string, isWatched: boolean): void {
    if (event.type === 'StasisStart' && !isWatched && !this.#held.owns(id)) {
      void hangUpChannel(this, id); // Its request was given up.
    }
  }

  #started(call: AriCall | undefined, channel: AriChannel, event: StasisStart): void {
    const { args, replace_channel: before } = event;
    if (this.#held.isDestroyed(channel.id)) return; // A late event of an ended channel.
    if (before !== undefined) this.#replaced(before.id, channel);
    else if (this.ids.kindOf(channel.id) === 'o' && isDialled(args)) this.#adopt(channel);
    else if (call === undefined) this.#inbound(channel, args);
  }

  /** A telephone has transferred its call with us, or with the destination of a transfer: the PBX puts another channel
   *  in its place, here and in the bridge, and ends the telephone's. The call continues. */
  #replaced(before: string, channel: AriChannel): void {
    const call = this.#held.replace(before, channel.id);
    if (call === undefined || call.isUnwanted || call.isCancelled) {
      void hangUpChannel(this, channel.id);
      return;
    }
    this.log.info({ callId: call.id }, 'a telephone has transferred its call');
    if (channel.state === 'Up' && call.answer(this.clock.monotonicMs())) this.#answered(call);
  }

  #answered(call: AriCall): void {
    const { id: callId, runId } = call;
    this.#listener.onStatus(call.status('in-progress', 'answered'));
    if (runId !== null) this.#listener.onAnswered({ callId, runId });
  }

  #inbound(channel: AriChannel, args: readonly string[]): void {
    const { id } = channel;
    if (this.#held.calls.has(id)) return;
    const call = new AriCall({ id, runId: null });
    call.limitS = callLimitOf(args);
    if (channel.state === 'Up') call.answer(this.clock.monotonicMs());
    const isBack = this.#held.wasOurs(id);
    this.#held.keep(id);
    this.#held.calls.set(id, call);
    this.#listener.onInbound(inboundCall(channel, { args, isBack }));
  }

  /** Takes over a call that was dialled here, by another node, or before a restart. */
  #adopt(channel: AriChannel): void {
    const { id } = channel;
    const runId = this.ids.runOf(id);
    if (runId === undefined) return;
    const call = this.#held.calls.get(id) ?? new AriCall({ id, runId });
    call.isKnown = true;
    this.#held.calls.set(id, call);
    if (channel.state !== 'Up') {
      if (isInApplication(channel)) this.#entered(call);
      return;
    }
    this.#telephones.answered(channel);
    if (call.answer(this.clock.monotonicMs())) this.#answered(call);
  }

  /** A dialled call has entered our application. One that a killed process created would wait for ever. */
  #entered(call: AriCall): void {
    if (!call.enter()) return;
    const timer = this.clock.after(RING_MS_MAX, () => {
      if (!call.answered) void hangUpChannel(this, call.channelId);
    });
    call.over.addEventListener('abort', () => timer.cancel(), { once: true });
  }

  #ofCall(call: AriCall, event: AriEvent, channel: AriChannel): void {
    call.isKnown = true;
    const isStep = event.type === 'Dial' || event.type === 'ChannelStateChange';
    if (isStep && isInApplication(channel)) this.#adopt(channel);
    const isRinging = call.take(event);
    if (isRinging) this.#listener.onStatus(call.status('ringing', 'ringing'));
    const { id: callId, runId } = call;
    if (isRinging && call.isEntered && runId !== null) {
      this.#listener.onEarlyMedia({ callId, runId });
    }
    const reason = event.type === 'Dial' ? unreachableReason[event.dialstatus] : undefined;
    if (call.isEntered && reason !== undefined) void hangUpChannel(this, callId, reason);
    if (event.type === 'ChannelDtmfReceived') call.digit(event.digit);
    if (event.type === 'ChannelDestroyed' || (event.type === 'StasisEnd' && call.answered)) {
      this.#end(call, rawOf(event, channel));
    } else if (event.type === 'StasisEnd' && call.direction === 'inbound') {
      this.#end(call, rawOf(event, channel));
    }
  }

  /** Ends and reports the call, once. A call that may never have existed is not reported. */
  #end(call: AriCall, raw: Record<string, unknown>): void {
    if (!this.#held.remove(call)) return;
    const { transferredTo } = call;
    const status = call.end(this.clock.monotonicMs(), raw);
    if (call.isKnown && !this.#held.isSentAway(call.id)) this.#listener.onStatus(status);
    void call.leg?.close();
    if (transferredTo !== undefined) void endTransferred(this, transferredTo);
  }

  /** Removes a call that Asterisk does not have. Never rejects. */
  async #look(call: AriCall): Promise<void> {
    if (call.over.aborted) return;
    const path = `channels/${encodeURIComponent(call.channelId)}`;
    const status = await bestEffort(this, { action: 'look', method: 'GET', path });
    if (status === 404) this.#end(call, { type: 'not found' });
  }

  /** The call closed its media: without them it is over, unless it was transferred. */
  #mediaClosed(callId: string): void {
    const call = this.#held.calls.get(callId);
    if (call === undefined || call.transferredTo !== undefined || call.released) return;
    void hangUpUntilTaken(this, call);
  }
}

async function requireNone(fault: Promise<GatewayError | undefined> | undefined): Promise<void> {
  const error = await fault;
  if (error !== undefined) throw error;
}
