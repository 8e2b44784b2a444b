// The frames that are on their way: sent, and not yet played by the far end's clock. It gives the
// playhead, what to take back on a clear, and each frame again at the time it is heard.

import { FRAME_MS, FRAME_SAMPLES, msToSamples } from '../audio/pcm.ts';
import type { Segment } from './utterance.ts';

/** Frames beside those of the lead: the faded tail, and some. */
const SPARE_FRAMES = 8;

/** A frame is being heard: borrowed samples, how many of them, and the media time of the first. */
export type PlayedSink = (frame: Int16Array, samples: number, atMs: number) => void;

export interface Position {
  segment: Segment;
  /** Sample within the segment. */
  at: number;
}

interface Entry {
  /** Undefined for a tail that fades out: it is no progress. */
  segment: Segment | undefined;
  at: number;
  playMs: number;
  readonly frame: Int16Array;
}

export class SentFrames {
  readonly #sink: PlayedSink;
  readonly #ring: Entry[] = [];
  #first = 0;
  #count = 0;

  constructor(options: { leadMsMax: number; sink: PlayedSink }) {
    this.#sink = options.sink;
    const frames = Math.ceil(options.leadMsMax / FRAME_MS) + SPARE_FRAMES;
    for (let i = 0; i < frames; i++) {
      this.#ring.push({
        segment: undefined,
        at: 0,
        playMs: 0,
        frame: new Int16Array(FRAME_SAMPLES),
      });
    }
  }

  get full(): boolean {
    return this.#count === this.#ring.length;
  }

  /** `frame` (borrowed) will be played at `playMs`; it is sample `at` of `segment`. */
  push(segment: Segment | undefined, at: number, playMs: number, frame: Int16Array): void {
    if (this.full) this.#play(this.#entry(0), FRAME_SAMPLES);
    const entry = this.#entry(this.#count);
    this.#count++;
    entry.segment = segment;
    entry.at = at;
    entry.playMs = playMs;
    entry.frame.set(frame);
  }

  /** Frames whose time has passed have been played. */
  advance(nowMs: number): void {
    while (this.#count > 0) {
      const entry = this.#entry(0);
      if (entry.playMs + FRAME_MS > nowMs) return;
      this.#play(entry, FRAME_SAMPLES);
    }
  }

  /** The far end's buffer is dropped at `nowMs`. Returns the first sample that was not heard. */
  cut(nowMs: number): Position | undefined {
    this.advance(nowMs);
    if (this.#count === 0) return undefined;
    const entry = this.#entry(0);
    const { segment, at } = entry;
    const heard = Math.max(0, Math.min(FRAME_SAMPLES, msToSamples(nowMs - entry.playMs)));
    const position = this.#unheard(heard);
    if (heard > 0) {
      this.#play(entry, heard);
      if (segment !== undefined) segment.playedSamples = at + heard;
    }
    this.#count = 0;
    return position;
  }

  #unheard(heardOfFirst: number): Position | undefined {
    for (let nth = 0; nth < this.#count; nth++) {
      const { segment, at } = this.#entry(nth);
      if (segment !== undefined) return { segment, at: nth === 0 ? at + heardOfFirst : at };
    }
    return undefined;
  }

  #play(entry: Entry, samples: number): void {
    this.#first = (this.#first + 1) % this.#ring.length;
    this.#count--;
    const { segment } = entry;
    if (segment !== undefined) {
      segment.playedSamples = Math.max(segment.playedSamples, entry.at + samples);
    }
    this.#sink(entry.frame, samples, entry.playMs);
  }

  #entry(nth: number): Entry {
    return this.#ring[(this.#first + nth) % this.#ring.length] as Entry;
  }
}
