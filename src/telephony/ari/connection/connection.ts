// One configuration's Asterisk: events of its Stasis application become calls that ring, are answered and end;
// `call/start/inbound` connects, rejects and transfers them. Source: asterisk §0, §4.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { pbxEvents } from '../../../metrics/metrics.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { parseJson } from '../../../std/json.ts';
import type { Random } from '../../../std/random.ts';
import type { MediaSession } from '../../provider/media-session.ts';
import type {
  ForwardTarget,
  PbxConnection,
  PbxListener,
  PbxState,
  WaitingSound,
} from '../../provider/pbx.ts';
import type { PbxMembers } from '../../provider/pbx-members.ts';
import type { TransferTarget } from '../../provider/provider.ts';
import type { ProviderCredentials } from '../../provider/terms.ts';
import {
  type UnconfiguredNumber,
  UnconfiguredNumbers,
} from '../../provider/unconfigured-numbers.ts';
import { answerCall } from '../calls/answer.ts';
import { AriCall } from '../calls/ari-call.ts';
import { giveUp } from '../calls/away.ts';
import { setCallLimit } from '../calls/call-limit.ts';
import type { CallTable } from '../calls/call-table.ts';
import { codecFault } from '../calls/codec-check.ts';
import { hangUpUntilTaken } from '../calls/hang-up.ts';
import { rejectReasons } from '../calls/hangup-outcome.ts';
import { TelephoneWatch } from '../calls/telephone-watch.ts';
import { forwardIntoDialplan, transferCall } from '../calls/transfer.ts';
import { playWaiting, stopWaiting } from '../calls/waiting.ts';
import type { Spread } from '../media/transport-selection.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import { type ChannelIds, createChannelIds } from '../rest/channel-ids.ts';
import { type AriAnswer, type AriClient, type AriRequest, isWriteRefused } from '../rest/client.ts';
import { type AriAccount, accountOf } from '../rest/config.ts';
import { type AriEvent, ariEvent, channelOf } from '../rest/messages.ts';
import type { CallPeer, OpenLeg } from '../rest/peer.ts';
import type { AriSocket, AriSocketListener } from './ari-socket.ts';
import { ChannelEvents } from './channel-events.ts';
import {
  type ConnectionFault,
  readOnlyFault,
  requestFault,
  takenFault,
} from './connection-fault.ts';
import { ConnectionScope, type ConnectionScopeOptions } from './connection-scope.ts';
import { MemberRouting } from './member-routing.ts';
import {
  openApplication,
  type Reconciliation,
  ReconciliationFaults,
  reconcile,
} from './reconciliation.ts';

const RESYNC_MS_MAX = 15_000;
/** Pause after a dial without an answer: if Asterisk accepted it, the channel exists by then. */
const LOOK_MS = 2_000;
/** Pause from a change of the members to the reconciliation: a change seldom comes alone. */
const CHANGED_MS = 50;

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
  /** The tag of this process. */
  tag: string;
  /** Other processes that hold calls of this connection. Undefined: there are none. */
  members?: PbxMembers | undefined;
  /** Calls of living processes that are no members. */
  elsewhere: ConnectionScopeOptions['elsewhere'];
  /** Where calls of the account can be. */
  spread: (account: AriAccount, version: string | null) => Spread;
  /** Whether the next call stays in this process nevertheless. */
  keepsNext: () => boolean;
  /** Whether another process has the connection: this one looks after its own calls alone. */
  isShare: boolean;
  clock: Clock;
  random: Random;
  log: Log;
  onClosed: (connection: AriConnection) => void;
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
  readonly #abort = new AbortController();
  #state: PbxState = { kind: 'connecting' };
  /** Number of the current link: a reconciliation of an earlier link is void. */
  #link = 0;
  readonly #faults = new ReconciliationFaults();
  readonly #routing: MemberRouting | undefined;
  readonly #scope: ConnectionScope;
  readonly #events: ChannelEvents;
  /** Whether events arrive. */
  #isOpen = false;
  /** The next reconciliation without a new link. */
  #next: Timer | undefined;
  /** Called with the channel of each telephone that is found behind a call. */
  onTelephone: (channelId: string) => void = () => undefined;
  /** Called with each number that a caller dialled and that is not configured. */
  onUnconfigured: (number: UnconfiguredNumber) => void = () => undefined;

  constructor(options: AriConnectionOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.#held = options.held;
    this.account = options.account;
    this.client = this.#clientOf(options.account);
    this.clock = options.clock;
    this.random = options.random;
    this.log = options.log;
    this.openLeg = options.openLeg;
    this.ids = createChannelIds(options.account.app, options.random, options.tag);
    this.#routing = this.#routingTo(options.members);
    this.#scope = new ConnectionScope({ ...options, ids: this.ids, routing: this.#routing });
    const { held, listener } = options;
    const onFound = (id: string): void => this.onTelephone(id);
    this.#events = new ChannelEvents({
      peer: this,
      held,
      listener,
      telephones: new TelephoneWatch(this, { telephones: held.telephones, onFound }),
      isElsewhere: (id) => this.#scope.isElsewhere(id),
    });
    this.#socket = this.#openSocket();
  }

  #routingTo(members: PbxMembers | undefined): MemberRouting | undefined {
    if (members === undefined) return undefined;
    return new MemberRouting({
      members,
      ids: this.ids,
      clock: this.clock,
      keepsNext: this.#options.keepsNext,
      onChanged: () => this.#resyncAfter(CHANGED_MS),
      onUnconfigured: (number) => this.#noteUnconfigured(number),
      onFault: (fault) => {
        if (this.#state.kind === 'up') this.#socket.reopen(fault);
      },
      log: this.log,
    });
  }

  get state(): PbxState {
    return this.#state;
  }

  get isClosed(): boolean {
    return this.#abort.signal.aborted;
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
      if (await answerCall(this, call, either)) this.#events.answered(call);
      await stopWaiting(this, call);
      void setCallLimit(this, call);
      const onClosed = (isTaken: boolean) => this.#mediaClosed(callId, isTaken);
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

  async hold(callId: string, sound: WaitingSound, signal: AbortSignal): Promise<void> {
    const call = this.#held.calls.get(callId);
    if (call === undefined || call.leg !== undefined) throw new GatewayError('PBX_CALL_GONE');
    const either = AbortSignal.any([signal, call.over]);
    if (await answerCall(this, call, either)) this.#events.answered(call);
    await playWaiting(this, call, sound, either);
  }

  async forward(callId: string, target: ForwardTarget, signal: AbortSignal): Promise<void> {
    const call = this.#held.calls.get(callId);
    if (call === undefined || call.leg !== undefined) throw new GatewayError('PBX_CALL_GONE');
    await stopWaiting(this, call);
    if (await forwardIntoDialplan(this, call, target, signal)) return;
    // The destination joins the caller in the bridge of the media.
    await this.openMedia(callId, signal);
    await this.handOver(callId, target, signal);
  }

  #codecFault(call: AriCall): Promise<GatewayError | undefined> {
    call.codecFault ??= codecFault(this, call.channelId, call.over);
    return call.codecFault;
  }

  async refuse(...[callId, reason, number]: Parameters<PbxConnection['refuse']>): Promise<void> {
    if (number !== undefined) this.#noteUnconfigured(number);
    const call = this.#held.calls.get(callId);
    if (call === undefined) await hangUpChannel(this, callId, rejectReasons[reason]);
    else await hangUpUntilTaken(this, call, rejectReasons[reason]);
  }

  #noteUnconfigured(number: UnconfiguredNumber): void {
    this.unconfigured.note(number, this.clock.now());
    this.onUnconfigured(number);
  }

  renew(credentials: ProviderCredentials): boolean {
    const account = accountOf(credentials);
    if (account.app !== this.account.app) return false;
    this.#socket.close();
    this.#unlink();
    this.account = account;
    this.client = this.#clientOf(account);
    this.#become({ kind: 'connecting' });
    this.#socket = this.#openSocket();
    return true;
  }

  close(): Promise<void> {
    this.#socket.close();
    this.#unlink();
    this.#routing?.close();
    this.#abort.abort();
    this.#options.onClosed(this);
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
    if (how === 'uncertain') this.clock.after(LOOK_MS, () => void this.#events.look(call));
  }

  get held(): Pick<CallTable, 'calls' | 'isSentAway'> {
    return this.#held;
  }

  /** Channels of our calls whose ids this process has not made: those of callers and of telephones, and those of calls
   *  that another process dialled. */
  get foreignChannels(): string[] {
    return this.#held.channels.filter((id) => this.ids.tagOf(id) !== this.ids.tag);
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
      onOpen: () => void this.resync(),
      onMessage: (text) => this.#message(text),
      onDown: (why) => this.#down(why),
    });
  }

  /** Compares our calls with Asterisk's channels, over a new link or `again` over the same one; then the connection is
   *  up. Returns false if it failed, or was overtaken by the next. Never rejects. */
  async resync(again = false): Promise<boolean> {
    this.#unlink();
    this.#isOpen = true;
    const link = this.#link;
    const isOver = (): boolean => link !== this.#link || this.#abort.signal.aborted;
    const deadline = deadlineSignal(this.clock, RESYNC_MS_MAX, 'resync', this.#abort.signal);
    try {
      const version = await this.#prepare(deadline.signal);
      await this.#scope.refresh();
      const found = await reconcile(this, this.#held, this.#scope, deadline.signal);
      if (isOver()) return false;
      this.version = version;
      if (!again || this.#state.kind !== 'up') this.#become({ kind: 'up', version });
      this.#catchUp(found);
      await found.cleanUp();
      if (isOver()) return false;
      this.#goOn(found);
      const { pauseMs, lookMs } = this.#scope;
      if (pauseMs !== undefined) this.#resyncAfter(pauseMs);
      else if (lookMs !== undefined) this.#lookAfter(lookMs);
      return true;
    } catch (error) {
      if (isOver()) return false;
      this.#faults.note(this, error);
      this.#resyncFailed(requestFault(this.account, error));
      return false;
    } finally {
      deadline.done();
    }
  }

  /** The version of Asterisk, whose application is prepared; the other processes have named their calls. */
  async #prepare(signal: AbortSignal): Promise<string | null> {
    const { isShare, spread } = this.#options;
    if (isShare) return this.version;
    const version = await openApplication(this, signal);
    await this.#routing?.ask({ version, spread: spread(this.account, version) });
    return version;
  }

  #resyncFailed(fault: ConnectionFault): void {
    // The holder of the connection asks again.
    if (this.#options.isShare) this.#down(fault);
    else this.#socket.reopen(fault);
  }

  #resyncAfter(ms: number): void {
    this.#next?.cancel();
    this.#next = this.clock.after(ms, () => {
      if (this.#isOpen) void this.resync(true);
    });
  }

  /** Looks after `ms`, and then again, whether calls that were left alone are to be compared again. */
  #lookAfter(ms: number): void {
    const timer = this.clock.after(ms, () => {
      void this.#scope.isDue().then((isDue) => {
        if (this.#next !== timer || !this.#isOpen) return;
        if (isDue) void this.resync(true);
        else this.#lookAfter(ms);
      });
    });
    this.#next?.cancel();
    this.#next = timer;
  }

  /** Voids what was begun over the link. */
  #unlink(): void {
    this.#link += 1;
    this.#isOpen = false;
    this.#next?.cancel();
    this.#next = undefined;
  }

  #catchUp(found: Reconciliation): void {
    for (const { before, channel } of found.replaced) this.#events.replaced(before, channel);
    for (const call of found.ended) this.#events.end(call, { type: 'lost' });
    const unwanted = [...this.#held.calls.values()].filter(({ isUnwanted }) => isUnwanted);
    for (const { channelId } of [...found.partnerEnded, ...unwanted])
      void hangUpChannel(this, channelId);
    for (const { call, isHeld, holdEvents } of found.holds) {
      if (call.holdEvents === holdEvents) call.hold(isHeld);
    }
    for (const { channel, handedTo } of found.transferred) this.#events.restore(channel, handedTo);
    for (const event of found.missedEvents) this.#held.dispatch(channelOf(event)?.id ?? '', event);
    for (const missed of found.ringing) {
      if (this.#routing?.route(missed, JSON.stringify(missed)) !== true)
        this.#events.inbound(missed.channel, missed.args);
    }
    for (const channel of found.dialled) this.#events.adopt(channel);
  }

  /** Passes on answered calls whose process is gone, after the ends of the bridges that they were in. */
  #goOn({ left }: Reconciliation): void {
    for (const missed of left) {
      const { id } = missed.channel;
      // Somebody may have taken it meanwhile.
      if (this.#held.owns(id) || !this.#scope.isOurs(id)) continue;
      if (this.#routing?.route(missed, JSON.stringify(missed)) !== true) this.#events.take(missed);
    }
  }

  #down(fault: ConnectionFault): void {
    const { code, message, isPermanent } = fault;
    this.#unlink();
    this.#routing?.down(fault);
    this.#become({ kind: 'down', code, message, isPermanent });
  }

  #become(state: PbxState): void {
    this.#state = state;
    this.#listener.onState(state);
  }

  // Events.

  #message(text: string): void {
    const event = ariEvent.safeParse(parseJson(text));
    // The holder of the connection has counted those of a share.
    if (!this.#options.isShare)
      pbxEvents.inc({ provider: 'ari', result: event.success ? 'taken' : 'passed_over' });
    if (!event.success) return; // An event type that we do not use.
    if (this.#routing?.route(event.data, text) === true) return;
    try {
      this.#take(event.data);
    } catch (error) {
      this.log.error({ err: error, type: event.data.type }, 'an event of the PBX failed');
    }
  }

  #take(event: AriEvent): void {
    if (event.type === 'ApplicationReplaced') this.#socket.reopen(takenFault(this.account));
    else this.#events.take(event);
  }

  /** The call closed its media: without them it is over, unless it was transferred, or another process has it. */
  #mediaClosed(callId: string, isTaken: boolean): void {
    const call = this.#held.calls.get(callId);
    if (call === undefined || call.transferredTo !== undefined || call.released) return;
    if (isTaken) this.#events.giveAway(call);
    else void hangUpUntilTaken(this, call);
  }
}

async function requireNone(fault: Promise<GatewayError | undefined> | undefined): Promise<void> {
  const error = await fault;
  if (error !== undefined) throw error;
}
