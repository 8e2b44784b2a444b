// One configuration's Asterisk: its events become calls that ring, are answered and end; the call room
// has them connected, refused and handed over. Source: asterisk.md §0, §4.

import { GatewayError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { pbxEvents } from '../../metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { parseJson } from '../../std/json.ts';
import type { Random } from '../../std/random.ts';
import type { PbxConnection, PbxListener, PbxMedia, PbxState } from '../pbx.ts';
import type { Credentials, RejectReason } from '../terms.ts';
import { type AriAccount, accountOf } from './account.ts';
import { AriCall, rawOf } from './ari-call.ts';
import type { AriClient } from './client.ts';
import { createIds, type Ids } from './ids.ts';
import { fault, hostOf, type LinkFault } from './link-fault.ts';
import { type AriChannel, type AriEvent, ariEvent, channelOf } from './messages.ts';
import type { AriPeer, OpenLeg } from './peer.ts';
import { resync } from './resync.ts';
import type { AriSocket, AriSocketListener } from './socket.ts';
import { type HandOver, handOver } from './transfer.ts';

/** For requests whose failure changes nothing. */
const TIDY_MS_MAX = 5_000;
const RESYNC_MS_MAX = 15_000;

/** How a call is turned away: `reason` of a DELETE. Source: asterisk.md §4.1. */
const refusals: Readonly<Record<RejectReason, string>> = {
  'not-configured': 'unallocated',
  'no-workflow': 'congestion',
  signature: 'rejected',
  busy: 'busy',
  draining: 'congestion',
  error: 'failure',
};

export interface AriConnectionOptions {
  account: AriAccount;
  clientOf: (account: AriAccount) => AriClient;
  listener: PbxListener;
  openLeg: OpenLeg;
  openSocket: (account: AriAccount, listener: AriSocketListener) => AriSocket;
  clock: Clock;
  random: Random;
  log: Log;
  onClosed: () => void;
}

export class AriConnection implements PbxConnection, AriPeer {
  account: AriAccount;
  client: AriClient;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  version: string | null = null;
  readonly #options: AriConnectionOptions;
  readonly #listener: PbxListener;
  #socket: AriSocket;
  readonly #calls = new Map<string, AriCall>();
  readonly #watchers = new Map<string, (event: AriEvent) => void>();
  readonly #abort = new AbortController();
  #state: PbxState = { kind: 'connecting' };
  /** Counts the links: a resync of an earlier one says nothing any more. */
  #link = 0;

  constructor(options: AriConnectionOptions) {
    this.#options = options;
    this.#listener = options.listener;
    this.account = options.account;
    this.client = options.clientOf(options.account);
    this.clock = options.clock;
    this.random = options.random;
    this.log = options.log;
    this.ids = createIds(options.account.app, options.random);
    this.#socket = this.#openSocket();
  }

  get state(): PbxState {
    return this.#state;
  }

  watch(channelId: string, take: (event: AriEvent) => void): () => void {
    this.#watchers.set(channelId, take);
    return () => this.#watchers.delete(channelId);
  }

  // What the call room asks.

  async ring(callId: string): Promise<void> {
    const path = `channels/${encodeURIComponent(callId)}/ring`;
    await this.#tidy({ action: 'ring', method: 'POST', path });
  }

  async openMedia(callId: string, signal: AbortSignal): Promise<PbxMedia> {
    try {
      const call = this.#calls.get(callId);
      if (call === undefined) throw new GatewayError('PBX_CALL_GONE');
      await this.#answer(call, signal);
      const { openLeg } = this.#options;
      const onClosed = () => this.#mediaClosed(callId);
      const leg = await openLeg({ peer: this, callId, onClosed }, signal);
      if (this.#calls.get(callId) !== call) {
        void leg.close();
        throw new GatewayError('PBX_CALL_GONE');
      }
      call.leg = leg;
      return leg.media;
    } catch (error) {
      void this.#hangUp(callId, 'failure');
      throw error;
    }
  }

  async refuse(callId: string, reason: RejectReason): Promise<void> {
    await this.#hangUp(callId, refusals[reason]);
  }

  renew(credentials: Credentials): boolean {
    const account = accountOf(credentials);
    if (account.app !== this.account.app) return false;
    this.#socket.close();
    this.#link += 1;
    this.account = account;
    this.client = this.#options.clientOf(account);
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

  // What the provider's control asks.

  /** A call that is about to be dialled: what is told of it comes before the answer to the request. */
  dialling(callId: string, runId: string): void {
    const call = new AriCall({ id: callId, direction: 'outbound', runId });
    call.isPlaced = false;
    this.#calls.set(callId, call);
  }

  dialled(callId: string, isPlaced: boolean): void {
    const call = this.#calls.get(callId);
    if (call !== undefined) call.isPlaced = true;
    if (!isPlaced) this.#calls.delete(callId);
  }

  /** Somebody asked for its end: what comes of it is no fault of the far end's. */
  ending(callId: string): void {
    this.#calls.get(callId)?.cancel();
  }

  /** Throws PBX_CALL_GONE, TRANSFER_UNSUPPORTED, PROVIDER_*: then the call goes on as it was. */
  async handOver(callId: string, target: HandOver, signal: AbortSignal): Promise<void> {
    const call = this.#calls.get(callId);
    if (call === undefined) throw new GatewayError('PBX_CALL_GONE');
    await handOver(this, call, target, signal);
  }

  // The link.

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
      const found = await resync(this, this.#calls, deadline.signal);
      if (link !== this.#link || this.#abort.signal.aborted) return;
      this.version = found.version;
      this.#become({ kind: 'up', version: found.version });
      for (const call of found.gone) this.#end(call, { type: 'lost' });
      for (const channel of found.ringing) this.#inbound(channel, []);
      for (const channel of found.dialled) this.#adopt(channel);
      await found.tidy();
    } catch (error) {
      if (link !== this.#link || this.#abort.signal.aborted) return;
      this.log.warn({ err: error }, 'the PBX does not say how it stands');
      this.#socket.reopen(
        fault('PBX_UNREACHABLE', { host: hostOf(this.account), reason: 'requests fail' }, false),
      );
    } finally {
      deadline.done();
    }
  }

  #down({ code, message, isPermanent }: LinkFault): void {
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
    if (!event.success) return; // Of a type that is not ours to know.
    try {
      this.#take(event.data);
    } catch (error) {
      this.log.error({ err: error, type: event.data.type }, 'an event of the PBX was not taken');
    }
  }

  #take(event: AriEvent): void {
    if (event.type === 'ApplicationReplaced') {
      const { app } = this.account;
      this.#socket.reopen(fault('PBX_APP_TAKEN', { host: hostOf(this.account), app }, true));
      return;
    }
    const channel = channelOf(event);
    if (channel === undefined) return;
    const watcher = this.#watchers.get(channel.id);
    if (watcher !== undefined) watcher(event);
    const kind = this.ids.kindOf(channel.id);
    if (kind === 'm' || kind === 't') {
      if (isEnd(event)) this.#othersEnd(channel.id);
      return;
    }
    const call = this.#calls.get(channel.id);
    if (event.type === 'StasisStart') this.#started(call, channel, event.args);
    else if (call !== undefined) this.#ofCall(call, event, channel);
  }

  #started(call: AriCall | undefined, channel: AriChannel, args: readonly string[]): void {
    if (this.ids.kindOf(channel.id) === 'o') this.#adopt(channel);
    else if (call === undefined) this.#inbound(channel, args);
  }

  #inbound(channel: AriChannel, args: readonly string[]): void {
    const { id } = channel;
    if (this.#calls.has(id)) return;
    const call = new AriCall({ id, direction: 'inbound', runId: null });
    if (channel.state === 'Up') call.answer(this.clock.monotonicMs());
    this.#calls.set(id, call);
    const [word, number] = args;
    const to = (word === 'inbound' ? number : word) || channel.dialplan.exten;
    const { context, exten } = channel.dialplan;
    const raw = { channel: channel.name, state: channel.state, context, exten, args: [...args] };
    this.#listener.onInbound({ callId: id, from: channel.caller.number, to, raw });
  }

  /** A call of ours, dialled here, by another node, or before we were started anew. */
  #adopt(channel: AriChannel): void {
    const { id } = channel;
    const runId = this.ids.runOf(id);
    if (runId === undefined) return;
    const call = this.#calls.get(id) ?? new AriCall({ id, direction: 'outbound', runId });
    this.#calls.set(id, call);
    if (channel.state !== 'Up' || !call.answer(this.clock.monotonicMs())) return;
    this.#listener.onStatus(call.status('in-progress', 'answered'));
    this.#listener.onAnswered({ callId: id, runId });
  }

  #ofCall(call: AriCall, event: AriEvent, channel: AriChannel): void {
    const isRinging = call.take(event);
    if (isRinging) this.#listener.onStatus(call.status('ringing', 'ringing'));
    if (event.type === 'ChannelDtmfReceived') call.leg?.digit(event.digit);
    if (event.type === 'ChannelDestroyed' || (event.type === 'StasisEnd' && call.answered)) {
      this.#end(call, rawOf(event, channel));
    } else if (event.type === 'StasisEnd' && call.direction === 'inbound') {
      this.#end(call, rawOf(event, channel));
    }
  }

  /** Once for each call. */
  #end(call: AriCall, raw: Record<string, unknown>): void {
    if (!this.#calls.delete(call.id)) return;
    const { handedTo } = call;
    this.#listener.onStatus(call.end(this.clock.monotonicMs(), raw));
    if (handedTo === undefined) {
      void call.leg?.close();
      return;
    }
    void this.#hangUp(handedTo.channelId, 'normal');
    void this.#tidy({ action: 'bridge', method: 'DELETE', path: `bridges/${handedTo.bridgeId}` });
  }

  /** A leg of ours has ended: whoever was handed to it is alone. */
  #othersEnd(channelId: string): void {
    for (const call of this.#calls.values()) {
      if (call.handedTo?.channelId === channelId) void this.#hangUp(call.id, 'normal');
    }
  }

  // Requests of our own.

  async #answer(call: AriCall, signal: AbortSignal): Promise<void> {
    if (call.answered) return;
    const path = `channels/${encodeURIComponent(call.id)}/answer`;
    const answer = await this.client.ask({ action: 'answer', method: 'POST', path }, signal);
    if (answer.status === 404 || answer.status === 409) throw new GatewayError('PBX_CALL_GONE');
    if (answer.status > 299) {
      throw new GatewayError('PBX_MEDIA', { reason: `the answer was refused (${answer.status})` });
    }
    if (call.answer(this.clock.monotonicMs())) {
      this.#listener.onStatus(call.status('in-progress', 'answered'));
    }
  }

  /** The call room wants no more audio: without it a call is over, unless it talks to somebody else. */
  #mediaClosed(callId: string): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.handedTo !== undefined || call.letGo) return;
    void this.#hangUp(callId, 'normal');
  }

  /** Never rejects. */
  async #hangUp(channelId: string, reason: string): Promise<void> {
    const path = `channels/${encodeURIComponent(channelId)}`;
    await this.#tidy({ action: 'hang-up', method: 'DELETE', path, query: { reason } });
  }

  async #tidy(request: Parameters<AriClient['ask']>[0]): Promise<void> {
    const deadline = deadlineSignal(this.clock, TIDY_MS_MAX, request.action);
    try {
      await this.client.ask(request, deadline.signal);
    } catch (error) {
      this.log.warn({ err: error, action: request.action }, 'a request to the PBX failed');
    } finally {
      deadline.done();
    }
  }
}

function isEnd({ type }: AriEvent): boolean {
  return type === 'StasisEnd' || type === 'ChannelDestroyed';
}
