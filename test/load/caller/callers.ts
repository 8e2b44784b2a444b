// What the simulated callers do, frame by frame: those who talk all the time and press a key when the agent
// falls silent, and those who cut in with real words. They know the call by its sound only.

import type { Noticed } from '../figures/noticed.ts';
import { FRAME_MS } from './ear.ts';
import type { Phrase } from './prepared-speech.ts';

/** Silence after which a caller takes it to be their turn. */
const TURN_MS = 200;
/** A caller who gets no answer tries again. */
const PATIENCE_MS = 5_000;
/** The agent speaks for at least this long before a caller cuts in, and for at most as long as it has words. */
const INTERRUPT_MS_MIN = 2_000;
const INTERRUPT_MS_MAX = 40_000;
/** Between half of the usual time and half more, each time another. */
const SPREAD_MIN = 0.5;
const GOLDEN = 0.618_034;
/** Audio that comes together with a clear (the end of the cut word) belongs to it. */
const SETTLE_MS = 20;

/** The line as the caller has it. */
export interface CallerLine {
  /** When all audio that came has been played. */
  readonly endMs: number;
  press(key: string): void;
}

export interface Caller {
  /** The next 20 ms that the caller says, as a message carries them. */
  next(nowMs: number): Uint8Array;
  /** Every few milliseconds. */
  tick(nowMs: number): void;
  /** The agent begins to speak after a silence. */
  agentBegins(nowMs: number): void;
  /** Ends the conversation: what was said is answered, and nothing new begins. */
  finish?(): void;
  /** After `finish`: the agent has answered and finished. */
  isDone?(nowMs: number): boolean;
  /** Words said so far. */
  readonly words?: number;
  /** Audio came, with the marks of its frames (-1: none). Called after `agentBegins`. */
  hears?(marks: Int32Array, nowMs: number): void;
}

/** Talks without an end and presses a key whenever the agent has nothing more to say. */
export class TalkingCaller implements Caller {
  readonly #line: CallerLine;
  readonly #noticed: Noticed;
  readonly #phrase: Phrase;
  readonly #key: string | undefined;
  #at: number;
  #pressedMs = Number.NaN;

  /** Without a `key` the caller presses none. */
  constructor(options: {
    line: CallerLine;
    noticed: Noticed;
    phrase: Phrase;
    index: number;
    key: string | undefined;
  }) {
    this.#line = options.line;
    this.#noticed = options.noticed;
    this.#phrase = options.phrase;
    this.#key = options.key;
    this.#at = options.index * 37;
  }

  next(): Uint8Array {
    const { frames } = this.#phrase;
    this.#at += 1;
    return frames[this.#at % frames.length] as Uint8Array;
  }

  tick(nowMs: number): void {
    if (this.#key === undefined || this.#line.endMs + TURN_MS > nowMs) return;
    if (this.#line.endMs === Number.NEGATIVE_INFINITY) return; // The agent opens.
    if (nowMs - this.#pressedMs < PATIENCE_MS) return;
    if (!Number.isNaN(this.#pressedMs)) this.#noticed.unanswered += 1;
    this.#pressedMs = nowMs;
    this.#line.press(this.#key);
  }

  agentBegins(nowMs: number): void {
    if (Number.isNaN(this.#pressedMs)) return;
    if (this.#noticed.measuring) this.#noticed.response.add(nowMs - this.#pressedMs);
    this.#pressedMs = Number.NaN;
  }
}

/** Listens, cuts in with a few words, hears the agent stop and answer, and does so again. */
export class InterruptingCaller implements Caller {
  readonly #line: CallerLine;
  readonly #noticed: Noticed;
  readonly #phrase: Phrase;
  readonly #silence: Uint8Array;
  readonly #everyMs: number;
  #turn: number;
  #state: 'listening' | 'speaking' | 'waiting' = 'listening';
  /** The next frame of the phrase. */
  #at = 0;
  /** Where the agent set in. */
  #agentMs = Number.POSITIVE_INFINITY;
  #onsetMs = 0;
  #spokenMs = 0;
  /** The agent has been silent since the caller's onset. */
  #stopped = false;

  constructor(options: {
    line: CallerLine;
    noticed: Noticed;
    phrase: Phrase;
    silence: Uint8Array;
    index: number;
    /** From one interruption to the next, on the average and within what the agent has to say. */
    everyMs: number;
  }) {
    this.#line = options.line;
    this.#noticed = options.noticed;
    this.#phrase = options.phrase;
    this.#silence = options.silence;
    this.#turn = options.index;
    this.#everyMs = Math.max(INTERRUPT_MS_MIN, options.everyMs);
  }

  next(nowMs: number): Uint8Array {
    if (this.#state === 'listening' && this.#cutsIn(nowMs)) {
      this.#state = 'speaking';
      this.#at = 0;
      this.#onsetMs = nowMs - FRAME_MS;
      this.#stopped = false;
      this.#turn += 1;
    }
    if (this.#state !== 'speaking') return this.#silence;
    const frame = this.#phrase.frames[this.#at] as Uint8Array;
    this.#at += 1;
    if (this.#at === this.#phrase.frames.length) {
      this.#state = 'waiting';
      this.#spokenMs = nowMs;
    }
    return frame;
  }

  tick(nowMs: number): void {
    if (this.#state === 'listening') return;
    if (!this.#stopped && this.#line.endMs + SETTLE_MS <= nowMs) {
      this.#stopped = true;
      if (this.#noticed.measuring) this.#noticed.bargeIn.add(this.#line.endMs - this.#onsetMs);
    }
    if (this.#state === 'waiting' && nowMs - this.#spokenMs >= PATIENCE_MS) {
      // Either the agent never stopped, or it never came back.
      this.#noticed.unanswered += 1;
      this.#state = 'listening';
      this.#agentMs = nowMs;
    }
  }

  agentBegins(nowMs: number): void {
    if (this.#state === 'waiting' && this.#stopped) {
      if (this.#noticed.measuring) this.#noticed.response.add(nowMs - this.#spokenMs);
      this.#state = 'listening';
    }
    if (this.#state === 'listening') this.#agentMs = nowMs;
  }

  #cutsIn(nowMs: number): boolean {
    const spread = SPREAD_MIN + ((this.#turn * GOLDEN) % 1);
    const afterMs = Math.min(INTERRUPT_MS_MAX, this.#everyMs * spread);
    return nowMs - this.#agentMs >= afterMs && this.#line.endMs > nowMs;
  }
}
