// Websocket of a voice that is described as data: one utterance at a time. After a cancel it serves the next one at
// once if each audio message has a context, or after the service's confirmation if there is one. Otherwise it is
// closed.

import type {
  DescriptionValues,
  MessageTemplate,
  VoiceDescription,
} from '../../../model/speech-services/schemas/description.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import {
  errorIn,
  meetsConditions,
  messageText,
  textAt,
  valueAt,
} from '../../service/description/message-template.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import { VendorSocket, type VendorSocketOptions } from '../../service/vendor-socket.ts';
import { isSpeakable, pieceOf } from '../speakable.ts';
import type { ConnectionListener, PooledConnection } from '../streaming/connection-pool.ts';
import type { ServiceUtterance } from '../streaming/service-utterance.ts';
import type { SpeechStream } from '../tts.ts';
import { wordsIn } from './described-words.ts';

const CANCELLED_MS_MAX = 2_000;
/** Time without an answer after which the connection of a cancelled utterance is closed. */
const STALLED_MS = 1_000;

interface Active {
  context: string;
  utterance: ServiceUtterance;
  /** Texts whose audio is incomplete. */
  texts: number;
  hasText: boolean;
  isEnded: boolean;
  /** Milliseconds of audio before the current text. */
  fromMs: number;
  /** Monotonic time of the last message in either direction. */
  activeAt: number;
}

export interface DescribedConnectionOptions {
  clock: Clock;
  description: VoiceDescription;
  values: DescriptionValues;
  socket: Omit<VendorSocketOptions, 'listener' | 'clock'>;
  listener: ConnectionListener;
}

export class DescribedConnection implements PooledConnection {
  readonly #options: DescribedConnectionOptions;
  readonly #socket: VendorSocket;
  #active: Active | undefined;
  /** Utterances, including cancelled ones, whose text waits for the connection. */
  readonly #unsent = new Set<ServiceUtterance>();
  #count = 0;
  #isCancelling = false;
  #isClosed = false;
  #timer: Timer | undefined;

  /** Never throws. */
  constructor(options: DescribedConnectionOptions) {
    this.#options = options;
    this.#socket = new VendorSocket({
      ...options.socket,
      clock: options.clock,
      listener: {
        onReady: () => this.#ready(),
        onText: (text) => this.#message(text),
        onBinary: (bytes) => this.#binary(bytes),
        onFault: (fault) => this.#failed(fault),
      },
    });
  }

  get hasRoom(): boolean {
    return this.isIdle && !this.#isClosed;
  }

  get isIdle(): boolean {
    return this.#active === undefined && !this.#isCancelling;
  }

  open(utterance: ServiceUtterance): SpeechStream {
    this.#count += 1;
    const active: Active = {
      context: `u${this.#count}`,
      utterance,
      texts: 0,

      hasText: false,
      isEnded: false,
      fromMs: 0,
      activeAt: this.#options.clock.monotonicMs(),
    };
    this.#active = active;
    return {
      push: (text) => this.#push(active, text),
      // Each text is spoken at once.
      flush: () => undefined,
      end: () => this.#end(active),
      cancel: () => this.#cancel(active),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#active = undefined;
    const { description, values } = this.#options;
    const { close } = description;
    this.#socket.close(close === undefined ? undefined : messageText(close, values));
  }

  #ready(): void {
    for (const utterance of this.#unsent) utterance.sent();
    this.#unsent.clear();
  }

  #push(active: Active, text: string): void {
    if (this.#active !== active || active.isEnded || !isSpeakable(text)) return;
    const { begin, text: template, flush } = this.#options.description;
    if (!active.hasText) this.#send(active, begin);
    active.hasText = true;
    active.texts += 1;
    const piece = pieceOf(text);
    const { isReady } = this.#socket;
    if (!isReady) this.#unsent.add(active.utterance);
    active.utterance.pushed(piece, isReady);
    this.#send(active, [template], piece);
    if (flush !== undefined) this.#send(active, [flush]);
  }

  #end(active: Active): void {
    if (this.#active !== active || active.isEnded) return;
    active.isEnded = true;
    const { end, done } = this.#options.description;
    if (active.hasText) this.#send(active, end);
    const isDone = !active.hasText || (done.per === 'text' && active.texts === 0);
    // Deferred until the caller's own call has returned, like every other end.
    if (isDone) this.#options.clock.after(0, () => this.#done(active));
  }

  #cancel(active: Active): void {
    active.utterance.cancel();
    if (this.#active !== active) return;
    const { clock, description } = this.#options;
    const { cancel, cancelled, context, audio } = description;
    // Binary messages have no context: those of this utterance could be mistaken for the next one's.
    const isTagged = context !== undefined && audio !== undefined;
    this.#active = undefined;
    const isStalled = clock.monotonicMs() - active.activeAt > STALLED_MS;
    if (!active.hasText || (description.done.per === 'text' && active.texts === 0)) {
      if (active.hasText) this.#send(active, description.after);
      this.#options.listener.onIdle();
    } else if (isStalled || (cancelled === undefined && !isTagged)) {
      this.#giveUp();
    } else {
      this.#send(active, cancel);
      if (cancelled === undefined) {
        this.#options.listener.onIdle();
        return;
      }
      this.#isCancelling = true;
      this.#timer = clock.after(CANCELLED_MS_MAX, () => this.#giveUp());
    }
  }

  #giveUp(): void {
    this.close();
    this.#options.listener.onEnd();
  }

  #send(active: Active, templates: readonly MessageTemplate[], text?: string): void {
    active.activeAt = this.#options.clock.monotonicMs();
    const values = { ...this.#options.values, context: active.context, text };
    for (const each of templates) this.#socket.send(messageText(each, values));
  }

  #binary(bytes: Uint8Array): void {
    if (this.#options.description.audio === undefined) this.#audio(bytes);
  }

  /** Takes audio. That of a cancelled utterance arrives until the cancel is confirmed. */
  #audio(bytes: Uint8Array): void {
    const active = this.#active;
    if (active === undefined) return;
    active.activeAt = this.#options.clock.monotonicMs();
    active.utterance.audio(bytes);
    if (active.utterance.isOver && this.#active === active) this.#giveUp();
  }

  #message(text: string): void {
    const message = parseJson(text);
    if (!isObject(message)) {
      this.#socket.fail('protocol', 'a message is not a JSON object');
      return;
    }
    const { description, listener } = this.#options;
    const error = errorIn(message, description.errors);
    if (error !== undefined) {
      this.#socket.fail(error.kind, error.detail, error);
    } else if (this.#isCancelling) {
      const { cancelled } = description;
      if (cancelled === undefined || !meetsConditions(message, cancelled)) return;
      this.#isCancelling = false;
      this.#timer?.cancel();
      listener.onIdle();
    } else if (this.#active !== undefined && this.#isOf(this.#active, message)) {
      this.#result(this.#active, message);
    }
  }

  /** Whether a message belongs to the utterance. Cancelled utterances continue for a while. */
  #isOf({ context }: Active, message: Record<string, unknown>): boolean {
    const path = this.#options.description.context;
    return path === undefined || textAt(message, path) === context;
  }

  #result(active: Active, message: Record<string, unknown>): void {
    const { words, done } = this.#options.description;
    active.activeAt = this.#options.clock.monotonicMs();
    this.#audioIn(message);
    if (words !== undefined && (words.when === undefined || meetsConditions(message, words.when))) {
      const fromMs = words.from === 'text' ? active.fromMs : 0;
      active.utterance.words(wordsIn(message, words, fromMs));
    }
    if (active.utterance.isOver && this.#active === active) this.#giveUp();
    if (this.#active === active && meetsConditions(message, done.when)) this.#confirmed(active);
  }

  #audioIn(message: Record<string, unknown>): void {
    const { audio } = this.#options.description;
    if (audio === undefined || (audio.when !== undefined && !meetsConditions(message, audio.when)))
      return;
    const data = valueAt(message, audio.path);
    if (typeof data === 'string' && data !== '') this.#audio(Buffer.from(data, audio.encoding));
  }

  /** All audio of a text, or of the utterance, has arrived. */
  #confirmed(active: Active): void {
    if (this.#options.description.done.per === 'utterance') {
      this.#done(active);
      return;
    }
    active.texts = Math.max(0, active.texts - 1);
    active.fromMs = active.utterance.audioMs;
    if (active.isEnded && active.texts === 0) this.#done(active);
  }

  #done(active: Active): void {
    if (this.#active !== active) return;
    this.#active = undefined;
    const { after, done } = this.#options.description;
    if (active.hasText) this.#send(active, after);
    this.#options.listener.onIdle();
    if (active.isEnded || done.per === 'text') active.utterance.done();
    else active.utterance.fault('overload', 'the service ended the utterance before its text');
  }

  #failed(fault: ServiceFault): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    const active = this.#active;
    this.#active = undefined;
    this.#options.listener.onEnd();
    active?.utterance.fail(fault);
  }
}
