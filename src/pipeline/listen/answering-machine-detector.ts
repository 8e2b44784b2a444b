// Answering machine detection (AMD) in the callee's audio: a long greeting is a machine's, a short word and then
// silence is a person's, and a beep leaves no doubt. It makes no sound.
// Source: speech §2 (what others take: app_amd, jambonz, LiveKit); contract §8.8.

import { FRAME_MS, FRAME_SAMPLES, RATE_HZ } from '../../audio/pcm.ts';

export type AnsweredBy = 'human' | 'machine_start' | 'machine_end_beep' | 'unknown';

export interface AnsweringMachineTuning {
  /** Speech without a pause that is longer than this is a recording. */
  longSpeechMs: number;
}

export interface AnsweringMachineOptions extends AnsweringMachineTuning {
  /** At most twice: a beep may follow what was known before. */
  onVerdict: (answeredBy: AnsweredBy) => void;
}

/** Pauses inside a greeting are shorter, */
const PAUSE_MS = 700;
/** and who has said "hello?" waits for at least this long. */
const WAIT_MS = 800;
/** Nobody has said a word for this long. */
const SILENT_MS = 10_000;
/** No more is listened for. */
const BEEP_MS_MAX = 60_000;

export class AnsweringMachineDetector {
  readonly #options: AnsweringMachineOptions;
  readonly #beep = new BeepDetector();
  #startMs: number | undefined;
  /** Of the words that go on. */
  #speechMs: number | undefined;
  #voiceMs = 0;
  #verdict: AnsweredBy | undefined;

  constructor(options: AnsweringMachineOptions) {
    this.#options = options;
  }

  /** A frame of the callee, with its level, and whether it belongs to speech. In the order of time. */
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

/** Where beeps are; dial, ring-back and busy tones are below. */
const BEEP_HZ = { min: 600, max: 2_500 };
const BEEP_FRAMES = { min: 120 / FRAME_MS, max: 2_000 / FRAME_MS };
const BEEP_DB_MIN = -35;
/** How much lower it is once it has ended. */
const FALL_DB = 12;
/** What one tone does not explain of a frame, of its energy: G.711 leaves up to 0.003 of a soft one, two tones and speech more. */
const REST_MAX = 0.004;
/** From frame to frame. */
const DRIFT_HZ_MAX = 15;
const DRIFT_DB_MAX = 3;
/** A frame that is half tone and half silence lies between the two. */
const END_FRAMES_MAX = 2;

/** Detects one steady tone that ends in silence. */
class BeepDetector {
  #frames = 0;
  #hz = 0;
  #db = 0;
  /** Frames since the tone was heard last. */
  #after = 0;

  /** Whether a tone sounds that is a beep if it ends soon. It is no silence that follows a word. */
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

/** The frequency of the one tone that makes up the frame, in hertz; 0 if there is no such tone. A tone is what
 *  two samples foretell of the next: x[n] + x[n-2] = 2 cos(w) x[n-1]. */
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
