// Events of the channels of one application begin, change and end the calls of this process. Each step is reported to the
// call layer. Events of other processes' channels do not come here. Source: asterisk §0, §4.

import type { PbxListener } from '../../provider/pbx.ts';
import { AriCall, inboundCall, rawOf } from '../calls/ari-call.ts';
import { callLimitOf } from '../calls/call-limit.ts';
import type { CallTable } from '../calls/call-table.ts';
import { isDialled } from '../calls/dial-endpoint.ts';
import { unreachableReason } from '../calls/hangup-outcome.ts';
import type { TelephoneWatch } from '../calls/telephone-watch.ts';
import { endTransferred } from '../calls/transfer.ts';
import { bestEffort, hangUpChannel } from '../rest/best-effort.ts';
import {
  type AriChannel,
  type AriEvent,
  channelOf,
  isEnd,
  isInApplication,
  type StasisStart,
} from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';

/** Longest time until an answer, above any ring time: Asterisk ends the channel before, unless it was created and never
 *  dialled. */
const RING_MS_MAX = 180_000;

export interface ChannelEventsOptions {
  peer: AriContext;
  held: CallTable;
  listener: PbxListener;
  telephones: TelephoneWatch;
  /** Whether the channel is, or may be, that of a process which is no member. */
  isElsewhere: (id: string) => boolean;
}

export class ChannelEvents {
  readonly #options: ChannelEventsOptions;
  readonly #peer: AriContext;
  readonly #held: CallTable;
  readonly #listener: PbxListener;

  constructor(options: ChannelEventsOptions) {
    this.#options = options;
    this.#peer = options.peer;
    this.#held = options.held;
    this.#listener = options.listener;
  }

  /** Applies an event. */
  take(event: AriEvent): void {
    const channel = channelOf(event);
    if (channel === undefined) return;
    if (event.type === 'Dial') this.#options.telephones.dialled(event);
    const held = this.#held.telephones.translated(event);
    if (held !== undefined) this.take(held);
    const isWatched = this.#held.dispatch(channel.id, event);
    if (event.type === 'ChannelDestroyed') this.#held.destroyed(channel.id);
    // The other party of a completed transfer has ended, so the caller is alone.
    const left = isEnd(event) ? this.#held.handedTo(channel.id) : [];
    for (const { channelId } of left) void hangUpChannel(this.#peer, channelId);
    const kind = this.#peer.ids.kindOf(channel.id);
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
    if (event.type !== 'StasisStart' || isWatched || this.#held.owns(id)) return;
    // Its request was given up, unless it is that of a gateway which had the connection before.
    if (!this.#options.isElsewhere(id)) void hangUpChannel(this.#peer, id);
  }

  #started(call: AriCall | undefined, channel: AriChannel, event: StasisStart): void {
    const { args, replace_channel: before } = event;
    if (this.#held.isDestroyed(channel.id)) return; // A late event of an ended channel.
    if (event.patchbay_left === true) this.#left(channel, args);
    else if (before !== undefined) this.replaced(before.id, channel);
    else if (this.#peer.ids.kindOf(channel.id) === 'o' && isDialled(args)) this.adopt(channel);
    else if (call === undefined) this.inbound(channel, args);
  }

  /** A telephone has transferred its call with us, or with the destination of a transfer: the PBX puts another channel
   *  in its place, here and in the bridge, and ends the telephone's. The call continues. */
  replaced(before: string, channel: AriChannel): void {
    const call = this.#held.replace(before, channel.id);
    if (call === undefined || call.isUnwanted || call.isCancelled) {
      void hangUpChannel(this.#peer, channel.id);
      return;
    }
    this.#peer.log.info({ callId: call.id }, 'a telephone has transferred its call');
    if (channel.state === 'Up' && call.answer(this.#peer.clock.monotonicMs())) this.answered(call);
  }

  /** Reports the answer of a call. */
  answered(call: AriCall): void {
    const { id: callId, runId } = call;
    this.#listener.onStatus(call.status('in-progress', 'answered'));
    if (runId !== null) this.#listener.onAnswered({ callId, runId });
  }

  /** Takes over an answered call whose process is gone. */
  #left(channel: AriChannel, args: readonly string[]): void {
    const { id: callId } = channel;
    if (this.#held.calls.has(callId)) return;
    const runId = this.#peer.ids.runOf(callId) ?? null;
    const call = new AriCall({ id: callId, runId });
    call.isLeft = true;
    call.answer(this.#peer.clock.monotonicMs());
    this.#held.keep(callId);
    this.#held.calls.set(callId, call);
    if (runId === null) {
      this.#listener.onInbound({ ...inboundCall(channel, { args, isBack: false }), isLeft: true });
      return;
    }
    this.#options.telephones.answered(channel);
    this.#listener.onStatus(call.status('in-progress', 'answered'));
    this.#listener.onAnswered({ callId, runId, isLeft: true });
  }

  /** Begins an inbound call. */
  inbound(channel: AriChannel, args: readonly string[]): void {
    const { id } = channel;
    if (this.#held.calls.has(id)) return;
    const call = new AriCall({ id, runId: null });
    call.limitS = callLimitOf(args);
    if (channel.state === 'Up') call.answer(this.#peer.clock.monotonicMs());
    const isBack = this.#held.wasOurs(id);
    this.#held.keep(id);
    this.#held.calls.set(id, call);
    this.#listener.onInbound(inboundCall(channel, { args, isBack }));
  }

  /** Takes over a call that was dialled here, by another node, or before a restart. */
  adopt(channel: AriChannel): void {
    const { id } = channel;
    const runId = this.#peer.ids.runOf(id);
    if (runId === undefined) return;
    const call = this.#held.calls.get(id) ?? new AriCall({ id, runId });
    call.isKnown = true;
    this.#held.calls.set(id, call);
    if (channel.state !== 'Up') {
      if (isInApplication(channel)) this.#entered(call);
      return;
    }
    this.#options.telephones.answered(channel);
    if (call.answer(this.#peer.clock.monotonicMs())) this.answered(call);
  }

  /** A dialled call has entered our application. One that a killed process created would wait for ever. */
  #entered(call: AriCall): void {
    if (!call.enter()) return;
    const timer = this.#peer.clock.after(RING_MS_MAX, () => {
      if (!call.answered) void hangUpChannel(this.#peer, call.channelId);
    });
    call.over.addEventListener('abort', () => timer.cancel(), { once: true });
  }

  #ofCall(call: AriCall, event: AriEvent, channel: AriChannel): void {
    call.isKnown = true;
    const isStep = event.type === 'Dial' || event.type === 'ChannelStateChange';
    if (isStep && isInApplication(channel)) this.adopt(channel);
    const isRinging = call.take(event);
    if (isRinging) this.#listener.onStatus(call.status('ringing', 'ringing'));
    const { id: callId, runId } = call;
    if (isRinging && call.isEntered && runId !== null) {
      this.#listener.onEarlyMedia({ callId, runId });
    }
    const reason = event.type === 'Dial' ? unreachableReason[event.dialstatus] : undefined;
    if (call.isEntered && reason !== undefined) void hangUpChannel(this.#peer, callId, reason);
    if (event.type === 'ChannelDtmfReceived') call.digit(event.digit);
    if (event.type === 'ChannelDestroyed' || (event.type === 'StasisEnd' && call.answered)) {
      this.end(call, rawOf(event, channel));
    } else if (event.type === 'StasisEnd' && call.direction === 'inbound') {
      this.end(call, rawOf(event, channel));
    }
  }

  /** Ends and reports the call, once. A call that may never have existed is not reported. */
  end(call: AriCall, raw: Record<string, unknown>): void {
    if (!this.#held.remove(call)) return;
    const { transferredTo } = call;
    const status = call.end(this.#peer.clock.monotonicMs(), raw);
    if (call.isKnown && !this.#held.isSentAway(call.id)) this.#listener.onStatus(status);
    void call.leg?.close();
    if (transferredTo !== undefined) void endTransferred(this.#peer, transferredTo);
  }

  /** Another process has the call: neither its events nor its end are this process's any more. */
  giveAway(call: AriCall): void {
    if (!this.#held.remove(call)) return;
    this.#peer.log.warn({ callId: call.id }, 'another process has a call of this one');
    call.released = true;
    this.#held.sendAway(call.id);
    void call.leg?.close();
  }

  /** Removes a call that Asterisk does not have. Never rejects. */
  async look(call: AriCall): Promise<void> {
    if (call.over.aborted) return;
    const path = `channels/${encodeURIComponent(call.channelId)}`;
    const status = await bestEffort(this.#peer, { action: 'look', method: 'GET', path });
    if (status === 404) this.end(call, { type: 'not found' });
  }

  /** Two parties that a killed process joined are a call again. */
  restore(channel: AriChannel, handedTo: NonNullable<AriCall['transferredTo']>): void {
    const { id } = channel;
    if (this.#held.calls.has(id)) return;
    const call = new AriCall({ id, runId: this.#peer.ids.runOf(id) ?? null });
    call.answer(this.#peer.clock.monotonicMs());
    call.transferredTo = handedTo;
    this.#held.calls.set(id, call);
  }
}
