// A person on the telephone, who has only the audio of the call: waits until the agent has
// finished speaking, answers, and may talk over the agent. No protocol, no clock and no voice of its own:
// one frame heard is 20 ms, and what it wishes to say is handed to whoever plays the provider.

import { FRAME_MS, FRAME_SAMPLES, samplesToMs } from '../../src/audio/pcm.ts';
import { SLOW_MIN } from './machine-pace.ts';

/** One thing to say (or to press) and when. */
export interface CallerLine {
  /** `answer`: after the agent has finished. `interrupt`: `afterMs` into what the agent says. */
  when: 'answer' | 'interrupt';
  afterMs: number;
  text: string;
  /** 8 kHz; empty if keys are pressed instead. */
  samples: Int16Array;
  keys: string;
}

/** What the ear measured, in milliseconds since the call began. */
export interface CallerFacts {
  /** From the end of what the caller said to the agent's first sound, per answered line. */
  waitedMs: number[];
  interruptions: {
    /** Whether the agent was speaking when the caller began. */
    overSpeech: boolean;
    /** From the caller's first sound to lasting silence of the agent; null if it spoke on. */
    silentAfterMs: number | null;
  }[];
  linesSaid: number;
  heardSpeechMs: number;
}

/** A frame this loud (root mean square of 16-bit samples) is speech: far above line noise and fades. */
const LOUD_RMS = 250;
/** A slow machine makes pauses within what the agent says; a person waits for its end, but not for ever. */
const SLOWNESS_MAX = 4;
/** The agent has fallen silent once nothing was heard for this long: longer than its pauses between words. */
const SILENCE_MS = 240;

export class Caller {
  readonly facts: CallerFacts = {
    waitedMs: [],
    interruptions: [],
    linesSaid: 0,
    heardSpeechMs: 0,
  };
  readonly #lines: readonly CallerLine[];
  readonly #pace: { readonly slowness: number };
  /** Frames since the call began. */
  #frames = 0;
  #line = 0;
  /** How much of the line in hand has been said; undefined while listening. */
  #saidMs: number | undefined;
  #beganMs = 0;
  #speechStartedMs: number | undefined;
  #lastLoudMs = Number.NEGATIVE_INFINITY;
  #spokeUntilMs: number | undefined;
  #interruption:
    | { startedMs: number; byKeys: boolean; fact: CallerFacts['interruptions'][number] }
    | undefined;

  /** `pace.slowness`: factor by which the machine is slower than a free one. */
  constructor(lines: readonly CallerLine[], pace: { readonly slowness: number } = { slowness: 1 }) {
    this.#lines = lines;
    this.#pace = pace;
  }

  /** Hears one frame of 160 samples (borrowed); a line that begins with the next frame, if any. */
  hear(frame: Int16Array): CallerLine | undefined {
    const nowMs = this.#frames * FRAME_MS;
    this.#frames += 1;
    this.#listen(frame, nowMs);
    this.#speakOn();
    const line = this.#lines[this.#line];
    if (line === undefined || this.#saidMs !== undefined || !this.#isTurnFor(line, nowMs)) {
      return undefined;
    }
    this.#begin(line, nowMs + FRAME_MS);
    return line;
  }

  /** The provider dropped the agent's audio at `atMs`. Keys are answered too fast for an ear to notice the
   *  silence between; what is heard from here on is new. */
  cutOff(atMs: number): void {
    const interruption = this.#interruption;
    if (interruption === undefined || !interruption.byKeys || atMs < interruption.startedMs) return;
    interruption.fact.silentAfterMs = atMs - interruption.startedMs;
    this.#interruption = undefined;
    this.#speechStartedMs = undefined;
  }

  #listen(heard: Int16Array, nowMs: number): void {
    const loud = rms(heard) > LOUD_RMS;
    if (loud) {
      this.facts.heardSpeechMs += FRAME_MS;
      if (this.#speechStartedMs === undefined) this.#hearsAnswer(nowMs);
      this.#lastLoudMs = nowMs;
    }
    const interruption = this.#interruption;
    if (interruption === undefined || nowMs < interruption.startedMs) return;
    const silent = nowMs - this.#lastLoudMs >= SILENCE_MS;
    if (nowMs <= interruption.startedMs + FRAME_MS) interruption.fact.overSpeech = !silent;
    if (silent) {
      const silentSinceMs = Math.max(this.#lastLoudMs + FRAME_MS, interruption.startedMs);
      interruption.fact.silentAfterMs = silentSinceMs - interruption.startedMs;
      this.#interruption = undefined;
      this.#speechStartedMs = undefined;
    }
  }

  #hearsAnswer(nowMs: number): void {
    this.#speechStartedMs = nowMs;
    if (this.#spokeUntilMs === undefined) return;
    this.facts.waitedMs.push(nowMs - this.#spokeUntilMs);
    this.#spokeUntilMs = undefined;
  }

  #isTurnFor(line: CallerLine, nowMs: number): boolean {
    if (this.#speechStartedMs === undefined) return false;
    const slowness = Math.min(this.#pace.slowness, SLOWNESS_MAX);
    const silentMs = nowMs - this.#lastLoudMs;
    if (line.when === 'answer') return silentMs >= line.afterMs * slowness;
    // Who finds the agent between two sentences waits for the next one.
    const isSpoken = slowness < SLOW_MIN || silentMs < SILENCE_MS;
    return isSpoken && nowMs - this.#speechStartedMs >= line.afterMs;
  }

  #begin(line: CallerLine, beginsMs: number): void {
    this.#saidMs = 0;
    this.#beganMs = beginsMs;
    this.facts.linesSaid += 1;
    if (line.when !== 'interrupt') {
      this.#speechStartedMs = undefined;
      return;
    }
    const overSpeech = beginsMs - FRAME_MS - this.#lastLoudMs < SILENCE_MS;
    const fact = { overSpeech, silentAfterMs: null };
    this.facts.interruptions.push(fact);
    const startedMs = beginsMs + speechSpan(line.samples).fromMs;
    this.#interruption = { startedMs, byKeys: line.samples.length === 0, fact };
  }

  /** 20 ms of the line in hand have been said. */
  #speakOn(): void {
    const line = this.#lines[this.#line];
    if (this.#saidMs === undefined || line === undefined) return;
    this.#saidMs += FRAME_MS;
    if (this.#saidMs < samplesToMs(line.samples.length)) return;
    this.#saidMs = undefined;
    this.#line += 1;
    this.#spokeUntilMs = this.#beganMs + speechSpan(line.samples).toMs;
  }
}

/** Where in a recorded line somebody speaks: milliseconds from its start; both 0 for silence. */
export function speechSpan(samples: Int16Array): { fromMs: number; toMs: number } {
  let fromMs: number | undefined;
  let toMs = 0;
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    if (rms(samples.subarray(at, at + FRAME_SAMPLES)) <= LOUD_RMS) continue;
    fromMs ??= samplesToMs(at);
    toMs = samplesToMs(at + FRAME_SAMPLES);
  }
  return { fromMs: fromMs ?? 0, toMs };
}

/** Root mean square of the samples. */
export function rms(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return samples.length === 0 ? 0 : Math.sqrt(sum / samples.length);
}
