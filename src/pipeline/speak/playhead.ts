// The playhead: frames that were sent and, by the far end's clock, are not yet played. It gives the position, the audio
// to take back on a clear, and each frame again at the time of its playing.

import { FRAME_MS, FRAME_SAMPLES, msToSamples } from '../../audio/pcm.ts';
import type { Segment } from './utterance.ts';

/** Frames in addition to those of the lead: the faded tail, and some. */
const SPARE_FRAMES = 8;

/** Listener of frames at their playing time: borrowed samples, their number, and the media time of the first. */
export type PlayedListener = (frame: Int16Array, samples: number, atMs: number) => void;

export interface PlayheadPosition {
  segment: Segment;
  /** Index of the sample within the segment. */
  at: number;
  /** Gain at the moment of the cut, 0..1. */
  gain: number;
}

/** Origin of a frame, and its playing time. */
export interface FrameFacts {
  /** Undefined for a tail that fades out: it is not counted as progress. */
  segment: Segment | undefined;
  /** Index of its first sample within the segment. */
  at: number;
  playMs: number;
  /** Gain at its start and at its end. */
  fromGain: number;
  toGain: number;
}

/** Numbers stored per frame, side by side: `at`, `playMs`, `fromGain`, `toGain`. */
const NUMBERS = 4;
const AT = 0;
const PLAY_MS = 1;
const FROM_GAIN = 2;
const TO_GAIN = 3;

/** A circular buffer in flat arrays: each frame is touched once on its way in and once on its way out; one object per
 *  frame would double the memory that the processor fetches. */
export class Playhead {
  readonly #sink: PlayedListener;
  /** Views of one array. */
  readonly #frames: readonly Int16Array[];
  readonly #numbers: Float64Array;
  readonly #segments: (Segment | undefined)[];
  #first = 0;
  #count = 0;

  constructor(options: { leadMsMax: number; sink: PlayedListener }) {
    this.#sink = options.sink;
    const length = Math.ceil(options.leadMsMax / FRAME_MS) + SPARE_FRAMES;
    const samples = new Int16Array(length * FRAME_SAMPLES);
    this.#frames = Array.from({ length }, (_, i) =>
      samples.subarray(i * FRAME_SAMPLES, (i + 1) * FRAME_SAMPLES),
    );
    this.#numbers = new Float64Array(length * NUMBERS);
    this.#segments = Array.from({ length }, () => undefined);
  }

  get full(): boolean {
    return this.#count === this.#frames.length;
  }

  /** Adds a frame that was sent; both arguments are borrowed. */
  push(facts: FrameFacts, frame: Int16Array): void {
    if (this.full) this.#play(FRAME_SAMPLES);
    const place = this.#place(this.#count);
    this.#count++;
    this.#segments[place] = facts.segment;
    const numbers = this.#numbers;
    numbers[place * NUMBERS + AT] = facts.at;
    numbers[place * NUMBERS + PLAY_MS] = facts.playMs;
    numbers[place * NUMBERS + FROM_GAIN] = facts.fromGain;
    numbers[place * NUMBERS + TO_GAIN] = facts.toGain;
    this.#frames[place]?.set(frame);
  }

  /** Delays the frames: the far end plays later than assumed. */
  delay(ms: number): void {
    for (let nth = 0; nth < this.#count; nth++) {
      const at = this.#place(nth) * NUMBERS + PLAY_MS;
      this.#numbers[at] = (this.#numbers[at] as number) + ms;
    }
  }

  /** Marks frames whose time has passed as played. */
  advance(nowMs: number): void {
    while (this.#count > 0 && this.#number(0, PLAY_MS) + FRAME_MS <= nowMs)
      this.#play(FRAME_SAMPLES);
  }

  /** Removes the frames when the far end's buffer is cleared at `nowMs`. Returns the first sample that was not
   *  played. */
  truncate(nowMs: number): PlayheadPosition | undefined {
    this.advance(nowMs);
    if (this.#count === 0) return undefined;
    const segment = this.#segments[this.#first];
    const at = this.#number(0, AT);
    const fromGain = this.#number(0, FROM_GAIN);
    const toGain = this.#number(0, TO_GAIN);
    const sinceMs = nowMs - this.#number(0, PLAY_MS);
    const heard = Math.max(0, Math.min(FRAME_SAMPLES, msToSamples(sinceMs)));
    const gain = fromGain + ((toGain - fromGain) * heard) / FRAME_SAMPLES;
    const position = this.#unheard(heard, gain);
    if (heard > 0) {
      this.#play(heard);
      if (segment !== undefined) segment.playedSamples = at + heard;
    }
    this.#count = 0;
    return position;
  }

  #unheard(heardOfFirst: number, gain: number): PlayheadPosition | undefined {
    for (let nth = 0; nth < this.#count; nth++) {
      const segment = this.#segments[this.#place(nth)];
      if (segment === undefined) continue;
      return { segment, at: this.#number(nth, AT) + (nth === 0 ? heardOfFirst : 0), gain };
    }
    return undefined;
  }

  /** Marks the first frame as played up to this many samples. */
  #play(samples: number): void {
    const segment = this.#segments[this.#first];
    const at = this.#number(0, AT);
    const playMs = this.#number(0, PLAY_MS);
    const frame = this.#frames[this.#first] as Int16Array;
    this.#first = this.#place(1);
    this.#count--;
    if (segment !== undefined)
      segment.playedSamples = Math.max(segment.playedSamples, at + samples);
    this.#sink(frame, samples, playMs);
  }

  #number(nth: number, which: number): number {
    return this.#numbers[this.#place(nth) * NUMBERS + which] as number;
  }

  #place(nth: number): number {
    return (this.#first + nth) % this.#frames.length;
  }
}
