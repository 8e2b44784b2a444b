// A simulated caller who converses: says marked words, waits for the agent's answer to them, lets it finish, and goes on.
// Audio of another kind, such as a filler, is a sound but no answer.

import type { AnswerHeard, Noticed } from '../figures/noticed.ts';
import {
  ANSWER_CLIP,
  NO_WORD,
  sharedMs,
  WORD_FRAMES,
  writeFrameMark,
} from '../services/frame-marks.ts';
import type { Wire } from '../wires/wire.ts';
import type { Caller, CallerLine } from './callers.ts';
import type { VoicedPhrase } from './prepared-speech.ts';
import { FRAME_BYTES, MARK_FRAMES_MAX } from './watermark.ts';

/** Callers do not all begin in step. */
const PAUSE_MS = 400;
const PAUSE_MS_SPREAD = 1_200;
/** A caller who gets no answer speaks again. */
const PATIENCE_MS = 15_000;
/** The agent has nothing more to say. */
const END_MS = 1_500;
/** Before the first words, if the agent does not greet. */
const GREETING_MS_MAX = 5_000;
const GOLDEN = 0.618_034;
const SILENCE = 0xff;

export class ConversingCaller implements Caller {
  readonly #line: CallerLine;
  readonly #noticed: Noticed;
  readonly #phrase: VoicedPhrase;
  readonly #payloadOf: Wire['payloadOf'];
  readonly #call: number;
  readonly #pauseMs: number;
  readonly #frame = new Uint8Array(FRAME_BYTES);
  #state: 'listening' | 'speaking' | 'waiting' = 'listening';
  /** Frames of the phrase that were said. */
  #at = 0;
  /** The first word of the phrase. */
  #first = 0;
  #words = 0;
  #spokenMs = 0;
  #hasSound = false;
  #isFinishing = false;
  #beganMs: number | undefined;

  constructor(options: {
    line: CallerLine;
    noticed: Noticed;
    phrase: VoicedPhrase;
    payloadOf: Wire['payloadOf'];
    /** Number of the call, below 65,536. */
    index: number;
    /** Silence after the agent's answer; longer where its voice may fail within it. */
    pauseMs?: number;
  }) {
    this.#line = options.line;
    this.#noticed = options.noticed;
    this.#phrase = options.phrase;
    this.#payloadOf = options.payloadOf;
    this.#call = options.index;
    this.#pauseMs = options.pauseMs ?? PAUSE_MS;
  }

  get words(): number {
    return this.#words;
  }

  finish(): void {
    this.#isFinishing = true;
  }

  isDone(nowMs: number): boolean {
    return (
      this.#isFinishing &&
      this.#state === 'listening' &&
      nowMs - this.#line.endMs >= END_MS + this.#pauseMs
    );
  }

  next(nowMs: number): Uint8Array {
    this.#beganMs ??= nowMs;
    if (this.#state === 'listening' && this.#isMyTurn(nowMs)) this.#begin();
    const frame = this.#frame;
    const isSpeaking = this.#state === 'speaking';
    if (isSpeaking) frame.set(this.#phrase.frames[this.#at] as Uint8Array);
    else frame.fill(SILENCE);
    const nth = isSpeaking ? this.#first + Math.floor(this.#at / WORD_FRAMES) : NO_WORD;
    const part = isSpeaking ? this.#at % WORD_FRAMES : 0;
    writeFrameMark(frame, { call: this.#call, nth, part }, sharedMs());
    if (isSpeaking) this.#advance(nowMs);
    return this.#payloadOf(frame);
  }

  tick(nowMs: number): void {
    if (this.#state !== 'waiting' || nowMs - this.#spokenMs < PATIENCE_MS) return;
    this.#noticed.unanswered += 1;
    this.#state = 'listening';
  }

  agentBegins(nowMs: number): void {
    if (this.#state !== 'waiting' || this.#hasSound) return;
    this.#hasSound = true;
    if (this.#noticed.measuring) this.#noticed.response.add(nowMs - this.#spokenMs);
  }

  /** The marks of a message's frames. */
  hears(marks: Int32Array, nowMs: number): void {
    if (this.#state !== 'waiting') return;
    const wanted = ANSWER_CLIP * MARK_FRAMES_MAX + (this.#first % MARK_FRAMES_MAX);
    if (!marks.includes(wanted)) return;
    this.#state = 'listening';
    if (!this.#noticed.measuring) return;
    this.#noticed.answer.add(nowMs - this.#spokenMs);
    const heard: AnswerHeard = [this.#call, this.#first, sharedMs()];
    if (this.#noticed.answers.length < ANSWERS_MAX) this.#noticed.answers.push(heard);
  }

  #isMyTurn(nowMs: number): boolean {
    if (this.#isFinishing) return false;
    const { endMs } = this.#line;
    if (endMs === Number.NEGATIVE_INFINITY) {
      return nowMs - (this.#beganMs ?? nowMs) >= GREETING_MS_MAX;
    }
    const spread = ((this.#call + this.#words) * GOLDEN) % 1;
    return nowMs - endMs >= this.#pauseMs + PAUSE_MS_SPREAD * spread;
  }

  #begin(): void {
    this.#state = 'speaking';
    this.#at = 0;
    this.#first = this.#words;
    this.#hasSound = false;
  }

  #advance(nowMs: number): void {
    this.#at += 1;
    if (this.#at < this.#phrase.frames.length) return;
    this.#words += this.#phrase.frames.length / WORD_FRAMES;
    this.#state = 'waiting';
    this.#spokenMs = nowMs;
  }
}

/** A measurement of 500 calls and ten minutes has 40,000. */
const ANSWERS_MAX = 200_000;
