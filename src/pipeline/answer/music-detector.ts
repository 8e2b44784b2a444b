// Hold music in the callee's audio: sound that goes on for seconds, is periodic as instruments are, and is no voice.

import { FRAME_MS } from '../../audio/pcm.ts';
import { periodicityOf, tonePairOf } from './tones.ts';

/** Time over which the sound is judged, and the shares of it that music has at least. */
const WINDOW_FRAMES = 3_000 / FRAME_MS;
const LOUD_SHARE_MIN = 0.75;
const PERIODIC_SHARE_MIN = 0.5;
/** Share of voice from which it is speech with music behind it. */
const VOICE_SHARE_MAX = 0.35;
/** Share of single tones and pairs of them: ring-back, busy and dial tones. */
const TONE_SHARE_MAX = 0.3;
const DB_MIN = -48;
const PERIODICITY_MIN = 0.6;
/** Frames of which one is measured. */
const STRIDE = 5;

const LOUD = 1;
const PERIODIC = 2;
const VOICE = 4;
const TONE = 8;

export interface FrameSound {
  levelDb: number;
  hz: number;
  isVoice: boolean;
}

export class MusicDetector {
  /** What each of the last frames was, as bits; a ring. */
  readonly #frames = new Uint8Array(WINDOW_FRAMES / STRIDE);
  #at = 0;
  #filled = 0;
  #skipped = 0;
  #isPlaying = false;

  get isPlaying(): boolean {
    return this.#isPlaying;
  }

  /** Takes a frame, its level, the frequency of its single tone (0 for none), and whether it is speech. */
  push(frame: Int16Array, sound: FrameSound): void {
    this.#skipped = (this.#skipped + 1) % STRIDE;
    if (this.#skipped !== 0) return;
    this.#frames[this.#at] = bitsOf(frame, sound);
    this.#at = (this.#at + 1) % this.#frames.length;
    this.#filled = Math.min(this.#filled + 1, this.#frames.length);
    if (this.#at % 5 === 0) this.#judge();
  }

  #judge(): void {
    if (this.#filled < this.#frames.length) return;
    const share = (bit: number): number => {
      let count = 0;
      for (const bits of this.#frames) if ((bits & bit) !== 0) count += 1;
      return count / this.#frames.length;
    };
    this.#isPlaying =
      share(LOUD) >= LOUD_SHARE_MIN &&
      share(PERIODIC) >= PERIODIC_SHARE_MIN &&
      share(VOICE) <= VOICE_SHARE_MAX &&
      share(TONE) <= TONE_SHARE_MAX;
  }
}

function bitsOf(frame: Int16Array, { levelDb, hz, isVoice }: FrameSound): number {
  const voice = isVoice ? VOICE : 0;
  if (levelDb < DB_MIN) return voice;
  if (isVoice) return voice | LOUD | PERIODIC;
  const isTone = hz !== 0 || tonePairOf(frame) !== undefined;
  const isPeriodic = periodicityOf(frame) >= PERIODICITY_MIN;
  return voice | LOUD | (isTone ? TONE : 0) | (isPeriodic ? PERIODIC : 0);
}
