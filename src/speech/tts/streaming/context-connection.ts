// Websocket of a synthesiser that carries several utterances, each in a context with an id: tracks the open contexts,
// sends for each, and assigns answers to them. The protocol defines the messages.

import type { Clock, Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import type { FaultDetails, FaultKind, ServiceFault } from '../../service/service-fault.ts';
import { VendorSocket, type VendorSocketOptions } from '../../service/vendor-socket.ts';
import { isSpeakable, pieceOf } from '../speakable.ts';
import type { SpeechStream, WordTiming } from '../tts.ts';
import type { ConnectionListener, PooledConnection } from './connection-pool.ts';
import type { ServiceUtterance } from './service-utterance.ts';

type Message = Record<string, unknown>;

export interface ContextProtocol {
  /** Contexts of one connection, including those whose end is not confirmed. */
  contextsMax: number;
  /** Message sent for an open context after `afterMs` without another one. */
  keepalive?: { afterMs: number; message(id: string): string };
  begin(id: string, voice: string): ContextMessages;
  idOf(message: Message): string | undefined;
  /** The fault that a message reports. Undefined if it reports none. */
  faultOf(message: Message): ReportedFault | undefined;
  /** Asks the service why there is no audio. Never rejects. Undefined if the reason is unknown. */
  explainSilence?(): Promise<ServiceFault | undefined>;
}

export interface ReportedFault extends Partial<FaultDetails> {
  kind: FaultKind;
  detail: string;
}

/** Messages of one context, in both directions. */
export interface ContextMessages {
  text(text: string): string[];
  flush(): string[];
  end(): string[];
  cancel(): string[];
  /** Messages to send after the first audio. */
  afterFirstAudio?(): string[];
  read(message: Message): ContextAnswer;
}

export interface ContextAnswer {
  audio?: Uint8Array | undefined;
  words?: readonly WordTiming[] | undefined;
  isDone?: boolean;
}

export interface ContextConnectionOptions {
  clock: Clock;
  socket: Omit<VendorSocketOptions, 'listener' | 'clock'>;
  protocol: ContextProtocol;
  listener: ConnectionListener;
}

/** Wait for the confirmed end of a cancelled context. After it the context counts as ended. */
const END_MS_MAX = 5_000;
/** Time without audio after which the service is asked for the reason. The fallback waits 2 s. */
const SILENT_MS = 1_200;
/** Time without an answer after which the connection of a cancelled utterance accepts no other one. */
const STALLED_MS = 1_000;

interface Context {
  readonly id: string;
  readonly utterance: ServiceUtterance;
  readonly messages: ContextMessages;
  state: 'reserved' | 'open' | 'ended' | 'cancelled';
  /** Monotonic time of the last message in either direction. */
  activeAt: number;
  timer: Timer | undefined;
}

export class ContextConnection implements PooledConnection {
  readonly #clock: Clock;
  readonly #protocol: ContextProtocol;
  readonly #listener: ConnectionListener;
  readonly #socket: VendorSocket;
  readonly #contexts = new Map<string, Context>();
  #count = 0;
  #isStalled = false;
  #isClosed = false;

  /** Never throws. */
  constructor(options: ContextConnectionOptions) {
    this.#clock = options.clock;
    this.#protocol = options.protocol;
    this.#listener = options.listener;
    this.#socket = new VendorSocket({
      ...options.socket,
      clock: options.clock,
      listener: {
        onReady: () => this.#ready(),
        onText: (text) => this.#message(text),
        onFault: (fault) => this.#failed(fault),
      },
    });
  }

  get hasRoom(): boolean {
    const isUsable = !this.#isClosed && !this.#isStalled;
    return isUsable && this.#contexts.size < this.#protocol.contextsMax;
  }

  get isIdle(): boolean {
    return this.#contexts.size === 0;
  }

  /** Opens an utterance. Its context is opened with the first text. */
  open(utterance: ServiceUtterance, voice: string): SpeechStream {
    this.#count++;
    const id = `u${this.#count}`;
    const context: Context = {
      id,
      utterance,
      messages: this.#protocol.begin(id, voice),
      state: 'reserved',
      activeAt: this.#clock.monotonicMs(),
      timer: undefined,
    };
    this.#contexts.set(id, context);
    return {
      push: (text) => this.#push(context, text),
      flush: () => {
        if (context.state === 'open') this.#send(context, context.messages.flush());
      },
      end: () => this.#end(context),
      cancel: () => this.#cancel(context),
    };
  }

  close(): void {
    this.#isClosed = true;
    for (const context of this.#contexts.values()) context.timer?.cancel();
    this.#contexts.clear();
    this.#socket.close();
  }

  #push(context: Context, text: string): void {
    const { state, utterance, messages } = context;
    if ((state !== 'reserved' && state !== 'open') || !isSpeakable(text)) return;
    context.state = 'open';
    const piece = pieceOf(text);
    utterance.pushed(piece, this.#socket.isReady);
    this.#send(context, messages.text(piece));
    if (state === 'reserved') this.#awaitFirstAudio(context);
  }

  #end(context: Context): void {
    if (context.state === 'reserved') {
      this.#settle(context);
      // Deferred until the caller's own call has returned, like every other end.
      this.#clock.after(0, () => context.utterance.done());
      return;
    }
    if (context.state !== 'open') return;
    context.state = 'ended';
    this.#send(context, context.messages.end());
  }

  #cancel(context: Context): void {
    const { utterance, state } = context;
    if (utterance.isOver) return;
    utterance.cancel();
    if (state === 'reserved') this.#settle(context);
    else this.#giveUp(context);
  }

  /** Asks the service to stop. Audio of the context that is still on its way is dropped. */
  #giveUp(context: Context): void {
    if (this.#isClosed || !this.#contexts.has(context.id)) return;
    if (this.#clock.monotonicMs() - context.activeAt > STALLED_MS) this.#isStalled = true;
    context.state = 'cancelled';
    this.#send(context, context.messages.cancel());
    context.timer?.cancel();
    context.timer = this.#clock.after(END_MS_MAX, () => this.#settle(context));
  }

  #send(context: Context, messages: readonly string[]): void {
    context.activeAt = this.#clock.monotonicMs();
    for (const message of messages) this.#socket.send(message);
    const { keepalive } = this.#protocol;
    if (keepalive === undefined || !context.utterance.hasAudio) return;
    context.timer?.cancel();
    if (context.state === 'open') this.#awaitKeepalive(context, keepalive);
  }

  #awaitKeepalive(context: Context, keepalive: NonNullable<ContextProtocol['keepalive']>): void {
    context.timer = this.#clock.after(keepalive.afterMs, () => {
      this.#socket.send(keepalive.message(context.id));
      this.#awaitKeepalive(context, keepalive);
    });
  }

  #awaitFirstAudio(context: Context): void {
    if (this.#protocol.explainSilence === undefined || this.#isClosed) return;
    context.timer = this.#clock.after(SILENT_MS, () => void this.#explain(context, false));
  }

  async #explain(context: Context, isDone: boolean): Promise<void> {
    const fault = await this.#protocol.explainSilence?.();
    const { utterance } = context;
    if (utterance.isOver || utterance.hasAudio) return;
    if (fault !== undefined) {
      this.#giveUp(context);
      utterance.fail(fault);
    } else if (isDone) {
      utterance.done();
    }
  }

  #ready(): void {
    for (const { utterance } of this.#contexts.values()) utterance.sent();
  }

  #message(text: string): void {
    const message = parseJson(text);
    if (!isObject(message)) {
      this.#socket.fail('protocol', 'a message is no JSON object');
      return;
    }
    const id = this.#protocol.idOf(message);
    const context = id === undefined ? undefined : this.#contexts.get(id);
    const fault = this.#protocol.faultOf(message);
    if (fault !== undefined && id === undefined) {
      this.#socket.fail(fault.kind, fault.detail, fault);
      return;
    }
    // Cancelled contexts continue for a while.
    if (context === undefined) return;
    if (fault !== undefined) {
      this.#settle(context);
      context.utterance.fault(fault.kind, fault.detail, fault);
      return;
    }
    const answer = context.messages.read(message);
    this.#deliver(context, answer);
    if (answer.isDone === true) this.#done(context);
  }

  #deliver(context: Context, { words, audio }: ContextAnswer): void {
    const { utterance, messages } = context;
    if (utterance.isOver) return;
    if (words !== undefined) utterance.words(words);
    const hasSound = audio !== undefined && audio.length > 0;
    const isFirst = hasSound && !utterance.hasAudio;
    if (hasSound) utterance.audio(audio);
    // It failed, or its listener cancelled it.
    if (utterance.isOver && context.state !== 'cancelled') this.#giveUp(context);
    if (utterance.isOver || !hasSound) return;
    context.activeAt = this.#clock.monotonicMs();
    if (!isFirst) return;
    context.timer?.cancel();
    this.#send(context, messages.afterFirstAudio?.() ?? []);
  }

  #done(context: Context): void {
    const { utterance, state } = context;
    this.#settle(context);
    if (state === 'cancelled') return;
    const isEarly = state !== 'ended';
    if (!utterance.hasAudio && this.#protocol.explainSilence !== undefined) {
      void this.#explain(context, true);
    } else if (isEarly) {
      utterance.fault('overload', 'the service ended the utterance before its text');
    } else {
      utterance.done();
    }
  }

  #failed(fault: ServiceFault): void {
    this.#isClosed = true;
    const contexts = [...this.#contexts.values()];
    this.#contexts.clear();
    for (const { timer } of contexts) timer?.cancel();
    this.#listener.onEnd();
    for (const { utterance } of contexts) utterance.fail(fault);
  }

  /** The context has ended on both sides. */
  #settle(context: Context): void {
    context.timer?.cancel();
    if (!this.#contexts.delete(context.id) || this.#contexts.size > 0) return;
    if (!this.#isStalled) {
      this.#listener.onIdle();
      return;
    }
    this.close();
    this.#listener.onEnd();
  }
}
