// The beep at the end of a voicemail's greeting. Four kinds: a steady tone, two tones at once, a tone that slides up or
// down, and a series of short ones. Call progress tones, keys of a telephone and voices are none of them.

import { FRAME_MS } from '../../audio/pcm.ts';
import { DTMF_HIGH_HZ, DTMF_LOW_HZ } from '../../audio/tones/dtmf-frequencies.ts';
import { tonePairOf } from './tones.ts';

export type BeepKind = 'steady' | 'dual' | 'sliding' | 'series';

/** Range of beep frequencies; dial, ring-back and busy tones are below it. */
const BEEP_HZ = { min: 600, max: 2_500 };
const BEEP_FRAMES = { min: 120 / FRAME_MS, max: 2_000 / FRAME_MS };
/** Tones of a series, shorter than a beep, and the pause between two of them. */
const SHORT_FRAMES_MIN = 60 / FRAME_MS;
const SERIES_PAUSE_FRAMES = { min: 40 / FRAME_MS, max: 300 / FRAME_MS };
const SERIES_MIN = 2;
const DB_MIN = -35;
/** Fall of the level at the end of a beep. */
const FALL_DB = 12;
/** Largest change of a steady tone from frame to frame, and range of that of a sliding one. */
const DRIFT_HZ_MAX = 15;
const SLIDE_HZ_MAX = 160;
const DRIFT_DB_MAX = 3;
/** Distance within which a pair of tones is a key of a telephone. */
const KEY_HZ_MAX = 30;
/** Change over the whole of a beep from which it slides. */
const SLID_HZ_MIN = 60;
/** Frames of the tone's end: one that is half tone and half silence is between the two. */
const END_FRAMES_MAX = 2;

/** The tone of a frame: a single one, or the lower one of a pair. */
interface FrameTone {
  hz: number;
  isPair: boolean;
}

export class BeepDetector {
  #frames = 0;
  #first = 0;
  #hz = 0;
  #db = 0;
  #isPair = false;
  /** Direction of a tone that slides: 1 up, -1 down, 0 not known yet. */
  #slope = 0;
  /** Frames since the last frame with the tone. */
  #after = 0;
  /** Short tones of a series so far, their frequency, and frames since the last one. */
  #short = { count: 0, hz: 0, since: 0 };

  /** Whether a tone sounds that would be a beep if it ended soon. It does not count as the silence after a word. */
  get mayBeOne(): boolean {
    return this.#frames >= BEEP_FRAMES.min && this.#frames <= BEEP_FRAMES.max;
  }

  /** Takes a frame, and the frequency of its single tone, 0 for none. Returns the kind of the beep that has just ended. */
  push(frame: Int16Array, levelDb: number, singleHz: number): BeepKind | undefined {
    const tone = levelDb < DB_MIN ? undefined : beepToneOf(frame, singleHz);
    this.#short.since += 1;
    if (tone !== undefined && this.#after === 0 && this.#goesOn(tone, levelDb)) {
      this.#follow(tone, levelDb);
      return undefined;
    }
    this.#after += 1;
    const isLong = this.mayBeOne;
    const isShort = !isLong && this.#frames >= SHORT_FRAMES_MIN && !this.#isPair;
    if ((isLong || isShort) && levelDb < this.#db - FALL_DB) {
      const kind = isLong ? this.#kind : this.#series();
      this.#begin(undefined, levelDb);
      return kind;
    }
    const isOver = !(isLong || isShort) || this.#after > END_FRAMES_MAX;
    if (isOver) this.#begin(tone, levelDb);
    return undefined;
  }

  get #kind(): BeepKind {
    if (this.#isPair) return 'dual';
    return Math.abs(this.#hz - this.#first) >= SLID_HZ_MIN ? 'sliding' : 'steady';
  }

  /** A short tone has ended. */
  #series(): BeepKind | undefined {
    const { count, hz, since } = this.#short;
    const pause = since - this.#frames - this.#after;
    const { min, max } = SERIES_PAUSE_FRAMES;
    const isNext =
      count > 0 && Math.abs(hz - this.#hz) <= DRIFT_HZ_MAX && pause >= min && pause <= max;
    this.#short = { count: isNext ? count + 1 : 1, hz: this.#hz, since: 0 };
    return this.#short.count === SERIES_MIN ? 'series' : undefined;
  }

  #goesOn({ hz, isPair }: FrameTone, levelDb: number): boolean {
    if (this.#frames === 0 || isPair !== this.#isPair) return false;
    if (Math.abs(levelDb - this.#db) > DRIFT_DB_MAX) return false;
    const change = hz - this.#hz;
    if (Math.abs(change) <= DRIFT_HZ_MAX) return true;
    const isSameWay = this.#slope === 0 || Math.sign(change) === this.#slope;
    return !isPair && isSameWay && Math.abs(change) <= SLIDE_HZ_MAX;
  }

  #follow({ hz }: FrameTone, levelDb: number): void {
    const change = hz - this.#hz;
    if (Math.abs(change) > DRIFT_HZ_MAX) this.#slope = Math.sign(change);
    this.#frames += 1;
    this.#hz = hz;
    this.#db = levelDb;
  }

  #begin(tone: FrameTone | undefined, levelDb: number): void {
    this.#frames = tone === undefined ? 0 : 1;
    this.#hz = tone?.hz ?? 0;
    this.#first = this.#hz;
    this.#isPair = tone?.isPair ?? false;
    this.#slope = 0;
    this.#db = levelDb;
    this.#after = 0;
  }
}

function beepToneOf(frame: Int16Array, hz: number): FrameTone | undefined {
  if (hz !== 0) return isBeepHz(hz) ? { hz, isPair: false } : undefined;
  const pair = tonePairOf(frame);
  if (pair === undefined || !isBeepHz(pair.lowHz) || !isBeepHz(pair.highHz)) return undefined;
  return isKey(pair.lowHz, pair.highHz) ? undefined : { hz: pair.lowHz, isPair: true };
}

function isBeepHz(hz: number): boolean {
  return hz >= BEEP_HZ.min && hz <= BEEP_HZ.max;
}

function isKey(lowHz: number, highHz: number): boolean {
  const isNear = (hz: number) => (key: number) => Math.abs(hz - key) <= KEY_HZ_MAX;
  return DTMF_LOW_HZ.some(isNear(lowHz)) && DTMF_HIGH_HZ.some(isNear(highHz));
}
