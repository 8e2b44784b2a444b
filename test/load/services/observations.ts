// What the services of a load measurement note: how old the callers' frames are when they come, and for each answer the
// times at which the gateway had the words, asked the model, got its text, gave it to the voice, and got the audio. The
// gateway's own share is what lies between: it is measured at the services' sockets, on the clock of the whole machine.

import { FRAME_BYTES, MARK_FRAMES_MAX, writeMark } from '../caller/watermark.ts';
import { Histogram } from '../figures/histogram.ts';
import { type CallWord, wordsIn } from './call-words.ts';
import { ANSWER_CLIP, ageOf, type FrameMark, sharedMs } from './frame-marks.ts';

/** The call, the first word that is answered, when its first audio was sent, and how long the gateway took before. */
export type AnswerSent = readonly [call: number, first: number, atMs: number, textMs: number];

export interface ServiceTimes {
  /** From the caller's socket to the recogniser's. */
  frameP50Ms: number | null;
  frameP95Ms: number | null;
  frameP99Ms: number | null;
  frames: number;
  answers: AnswerSent[];
  /** Since the start: audio that this process sent after everything before it had been played by a far end that began at
   *  once, and how much later at most. */
  voiceGaps: number;
  voiceLateMaxMs: number;
}

/** A measurement of 500 calls and ten minutes has 40,000. */
const ANSWERS_MAX = 200_000;
/** µ-law. */
const BYTES_PER_MS = 8;

/** An answer whose audio goes out. */
interface Begun {
  first: number;
  startMs: number;
  sentMs: number;
}

interface Turn {
  finalAt: number;
  askedMs: number;
  tokenAt: number;
  textMs: number;
}

export class Observations {
  #frames = new Histogram();
  #answers: AnswerSent[] = [];
  /** The turn of each call; at most one for each of 65,536 calls. */
  readonly #turns = new Map<number, Turn>();
  /** The last answer whose audio was begun, by call. */
  readonly #begun = new Map<number, Begun>();
  #voiceGaps = 0;
  #voiceLateMaxMs = 0;

  reset(): void {
    this.#frames = new Histogram();
    this.#answers = [];
  }

  report(): ServiceTimes {
    return {
      frameP50Ms: this.#frames.at(0.5),
      frameP95Ms: this.#frames.at(0.95),
      frameP99Ms: this.#frames.at(0.99),
      frames: this.#frames.count,
      answers: this.#answers,
      voiceGaps: this.#voiceGaps,
      voiceLateMaxMs: this.#voiceLateMaxMs,
    };
  }

  frame(mark: FrameMark): void {
    this.#frames.add(ageOf(mark, sharedMs()));
  }

  /** Final words go to the gateway. */
  final(call: number): void {
    this.#turns.set(call, { finalAt: sharedMs(), askedMs: 0, tokenAt: 0, textMs: 0 });
  }

  /** The gateway asks the model. */
  asked(call: number): void {
    const turn = this.#turns.get(call);
    if (turn !== undefined) turn.askedMs = sharedMs() - turn.finalAt;
  }

  /** The model's first sentence goes to the gateway. */
  firstToken(call: number): void {
    const turn = this.#turns.get(call);
    if (turn !== undefined) turn.tokenAt = sharedMs();
  }

  /** Text of an utterance came to the voice: all of it so far. */
  spokenText(text: string): void {
    const call = wordsIn(text)[0]?.call;
    const turn = call === undefined ? undefined : this.#turns.get(call);
    if (turn === undefined || turn.textMs > 0 || turn.tokenAt === 0) return;
    turn.textMs = sharedMs() - turn.tokenAt;
  }

  /** Audio for this text goes to the gateway. */
  audio(audio: Uint8Array, text: string): void {
    const [first] = wordsIn(text);
    if (first === undefined) return;
    for (let at = 0; at + FRAME_BYTES <= audio.length; at += FRAME_BYTES) {
      writeMark(audio.subarray(at, at + FRAME_BYTES), ANSWER_CLIP, first.nth % MARK_FRAMES_MAX);
    }
    if (this.#goesOn(first, audio.length / BYTES_PER_MS)) return;
    const turn = this.#turns.get(first.call);
    if (turn === undefined || this.#answers.length >= ANSWERS_MAX) return;
    this.#answers.push([first.call, first.nth, sharedMs(), turn.askedMs + turn.textMs]);
  }

  /** False for the first audio of an answer. */
  #goesOn({ call, nth }: CallWord, ms: number): boolean {
    const nowMs = sharedMs();
    const begun = this.#begun.get(call);
    if (begun?.first !== nth) {
      this.#begun.set(call, { first: nth, startMs: nowMs, sentMs: ms });
      return false;
    }
    const lateMs = nowMs - begun.startMs - begun.sentMs;
    begun.sentMs += ms;
    if (lateMs <= 0) return true;
    this.#voiceGaps += 1;
    this.#voiceLateMaxMs = Math.max(this.#voiceLateMaxMs, lateMs);
    begun.startMs += lateMs;
    return true;
  }
}
