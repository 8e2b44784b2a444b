// A person on the telephone: hears and says 20 ms frames, and knows of the call only what its own ear
// tells. It waits until the agent has finished speaking, answers, and may talk over the agent.
// No protocol and no clock: one frame in and one frame out is 20 ms.

import { FRAME_MS, FRAME_SAMPLES, samplesToMs } from '../../src/audio/pcm.ts';

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
/** The agent has fallen silent once nothing was heard for this long: longer than its pauses between words. */
const SILENCE_MS = 240;
/** Quiet line noise of the caller's side, peak to peak; an absolutely silent line is unreal. */
const NOISE_SPAN = 16;

export class Caller {
  readonly facts: CallerFacts = {
    waitedMs: [],
    interruptions: [],
    linesSaid: 0,
    heardSpeechMs: 0,
  };
  readonly #lines: readonly CallerLine[];
  readonly #onLine: (line: CallerLine) => void;
  /** Frames since the call began. */
  #frames = 0;
  #line = 0;
  /** Samples of the line in hand that were said already; undefined while listening. */
  #said: number | undefined;
  #beganMs = 0;
  #speechStartedMs: number | undefined;
  #lastLoudMs = Number.NEGATIVE_INFINITY;
  #spokeUntilMs: number | undefined;
  #interruption: { startedMs: number; fact: CallerFacts['interruptions'][number] } | undefined;
  #noise = 1;
  #keys = '';

  constructor(lines: readonly CallerLine[], onLine: (line: CallerLine) => void) {
    this.#lines = lines;
    this.#onLine = onLine;
  }

  /** Hears one frame of 160 samples and gives the one said meanwhile; both are borrowed by nobody. */
  step(heard: Int16Array): Int16Array {
    const nowMs = this.#frames * FRAME_MS;
    this.#frames += 1;
    this.#listen(heard, nowMs);
    if (this.#said === undefined && this.#isMyTurn(nowMs)) this.#begin(nowMs);
    return this.#speak();
  }

  /** Keys pressed since the last call of this. */
  takeKeys(): string {
    const keys = this.#keys;
    this.#keys = '';
    return keys;
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

  #isMyTurn(nowMs: number): boolean {
    const line = this.#lines[this.#line];
    if (line === undefined || this.#speechStartedMs === undefined) return false;
    return line.when === 'interrupt'
      ? nowMs - this.#speechStartedMs >= line.afterMs
      : nowMs - this.#lastLoudMs >= line.afterMs;
  }

  #begin(nowMs: number): void {
    const line = this.#lines[this.#line];
    if (line === undefined) return;
    this.#said = 0;
    this.#beganMs = nowMs;
    this.#keys += line.keys;
    this.facts.linesSaid += 1;
    this.#onLine(line);
    if (line.when !== 'interrupt') {
      this.#speechStartedMs = undefined;
      return;
    }
    const fact = { overSpeech: false, silentAfterMs: null };
    this.facts.interruptions.push(fact);
    const startedMs = nowMs + speechSpan(line.samples).fromMs;
    this.#interruption = { startedMs, fact };
  }

  #speak(): Int16Array {
    const frame = this.#lineNoise();
    const line = this.#lines[this.#line];
    if (this.#said === undefined || line === undefined) return frame;
    const part = line.samples.subarray(this.#said, this.#said + FRAME_SAMPLES);
    frame.set(part);
    this.#said += FRAME_SAMPLES;
    if (this.#said >= line.samples.length) {
      this.#said = undefined;
      this.#line += 1;
      this.#spokeUntilMs = this.#beganMs + speechSpan(line.samples).toMs;
    }
    return frame;
  }

  #lineNoise(): Int16Array {
    const frame = new Int16Array(FRAME_SAMPLES);
    for (let i = 0; i < frame.length; i += 1) {
      this.#noise = (Math.imul(this.#noise, 1_664_525) + 1_013_904_223) >>> 0;
      frame[i] = ((this.#noise >>> 16) % NOISE_SPAN) - NOISE_SPAN / 2;
    }
    return frame;
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
