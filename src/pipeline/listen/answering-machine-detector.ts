// Answering machine detection (AMD) in the callee's audio: a long greeting means a machine, a short word followed by
// silence a person, and a beep is certain. Source: speech §2 (parameters of app_amd, jambonz, LiveKit); contract §8.8.

import { FRAME_MS, FRAME_SAMPLES, RATE_HZ } from '../../audio/pcm.ts';

export type AnsweredBy = 'human' | 'machine_start' | 'machine_end_beep' | 'unknown';

export interface AnsweringMachineTuning {
  /** Length of speech without a longer pause than PAUSE_MS from which it is a recording. */
  longSpeechMs: number;
}

export interface AnsweringMachineOptions extends AnsweringMachineTuning {
  /** Called at most twice: a beep may follow an earlier result. */
  onVerdict: (answeredBy: AnsweredBy) => void;
}

/** Longest pause inside a greeting. */
const PAUSE_MS = 700;
/** Shortest pause of a person after "hello?". */
const WAIT_MS = 800;
/** Time without any word after which the result is "unknown". */
const SILENT_MS = 10_000;
/** Time after which detection ends. */
const BEEP_MS_MAX = 60_000;

export class AnsweringMachineDetector {
  readonly #options: AnsweringMachineOptions;
  readonly #beep = new BeepDetector();
  #startMs: number | undefined;
  /** Milliseconds of speech in the current words. */
  #speechMs: number | undefined;
  #voiceMs = 0;
  #verdict: AnsweredBy | undefined;

  constructor(options: AnsweringMachineOptions) {
    this.#options = options;
  }

  /** Takes a frame of the callee, its level, and whether it is speech, in order of time. */
  push(frame: Int16Array, levelDb: number, isVoice: boolean, atMs: number): void {
    this.#startMs ??= atMs;
    if (this.#verdict === 'human' || this.#verdict === 'machine_end_beep') return;
    if (atMs - this.#startMs > BEEP_MS_MAX) return;
    if (this.#beep.push(frame, levelDb)) {
      this.#decide('machine_end_beep');
      return;
    }
    if (this.#verdict === undefined) this.#follow(isVoice, atMs, this.#startMs);
  }

  #follow(isVoice: boolean, atMs: number, startMs: number): void {
    if (isVoice) {
      if (this.#speechMs === undefined || atMs - this.#voiceMs > PAUSE_MS) this.#speechMs = atMs;
      this.#voiceMs = atMs;
      if (atMs - this.#speechMs > this.#options.longSpeechMs) this.#decide('machine_start');
    } else if (this.#speechMs === undefined) {
      if (atMs - startMs > SILENT_MS) this.#decide('unknown');
    } else if (atMs - this.#voiceMs > WAIT_MS && !this.#beep.mayBeOne) {
      this.#decide('human');
    }
  }

  #decide(verdict: AnsweredBy): void {
    this.#verdict = verdict;
    this.#options.onVerdict(verdict);
  }
}

/** Range of beep frequencies; dial, ring-back and busy tones are below it. */
const BEEP_HZ = { min: 600, max: 2_500 };
const BEEP_FRAMES = { min: 120 / FRAME_MS, max: 2_000 / FRAME_MS };
const BEEP_DB_MIN = -35;
/** Fall of the level at the end of a beep. */
const FALL_DB = 12;
/** Share of a frame's energy that one tone does not explain: G.711 leaves up to 0.003 of a soft tone; two tones
 *  and speech leave more. */
const REST_MAX = 0.004;
/** Largest change of frequency from frame to frame. */
const DRIFT_HZ_MAX = 15;
const DRIFT_DB_MAX = 3;
/** Frames of the tone's end: one that is half tone and half silence is between the two. */
const END_FRAMES_MAX = 2;

/** Detects one steady tone that ends in silence. */
class BeepDetector {
  #frames = 0;
  #hz = 0;
  #db = 0;
  /** Frames since the last frame with the tone. */
  #after = 0;

  /** Whether a tone sounds that would be a beep if it ended soon. It does not count as the silence after a word. */
  get mayBeOne(): boolean {
    return this.#frames >= BEEP_FRAMES.min && this.#frames <= BEEP_FRAMES.max;
  }

  /** Whether a beep has just ended. */
  push(frame: Int16Array, levelDb: number): boolean {
    const hz = levelDb < BEEP_DB_MIN ? 0 : toneOf(frame);
    const isTone = hz >= BEEP_HZ.min && hz <= BEEP_HZ.max;
    if (isTone && this.#after === 0 && this.#goesOn(hz, levelDb)) {
      this.#frames += 1;
      return false;
    }
    const isEnding = this.mayBeOne;
    this.#after += 1;
    if (isEnding && levelDb < this.#db - FALL_DB) {
      this.#begin(0, 0, levelDb);
      return true;
    }
    if (!isEnding || this.#after > END_FRAMES_MAX) this.#begin(isTone ? 1 : 0, hz, levelDb);
    return false;
  }

  #goesOn(hz: number, levelDb: number): boolean {
    const isSame = Math.abs(hz - this.#hz) <= DRIFT_HZ_MAX;
    return this.#frames > 0 && isSame && Math.abs(levelDb - this.#db) <= DRIFT_DB_MAX;
  }

  #begin(frames: number, hz: number, levelDb: number): void {
    this.#frames = frames;
    this.#hz = hz;
    this.#db = levelDb;
    this.#after = 0;
  }
}

/** The frequency of the single tone of the frame, in Hz; 0 if there is none. For a tone, two samples predict the
 *  next: x[n] + x[n-2] = 2 cos(w) x[n-1]. */
export function toneOf(frame: Int16Array): number {
  let across = 0;
  let middle = 0;
  let outer = 0;
  for (let n = 2; n < FRAME_SAMPLES; n++) {
    const sum = (frame[n] as number) + (frame[n - 2] as number);
    const mid = frame[n - 1] as number;
    across += sum * mid;
    middle += mid * mid;
    outer += sum * sum;
  }
  if (middle === 0) return 0;
  const ratio = across / middle; // 2 cos(w), by least squares.
  const rest = outer - ratio * across;
  if (rest > REST_MAX * middle || Math.abs(ratio) >= 2) return 0;
  return (Math.acos(ratio / 2) * RATE_HZ) / (2 * Math.PI);
}
