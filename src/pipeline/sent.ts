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
  /** Gain of what is heard when the audio is cut, 0..1. */
  gain: number;
}

/** Where a frame comes from, and when it is played. */
export interface FrameFacts {
  /** Undefined for a tail that fades out: it is no progress. */
  segment: Segment | undefined;
  /** Its first sample within the segment. */
  at: number;
  playMs: number;
  /** Gain at its begin and at its end. */
  fromGain: number;
  toGain: number;
}

interface Entry extends FrameFacts {
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
        fromGain: 1,
        toGain: 1,
        frame: new Int16Array(FRAME_SAMPLES),
      });
    }
  }

  get full(): boolean {
    return this.#count === this.#ring.length;
  }

  /** A frame that is on its way; both are borrowed. */
  push(facts: FrameFacts, frame: Int16Array): void {
    if (this.full) this.#play(this.#entry(0), FRAME_SAMPLES);
    const entry = this.#entry(this.#count);
    this.#count++;
    entry.segment = facts.segment;
    entry.at = facts.at;
    entry.playMs = facts.playMs;
    entry.fromGain = facts.fromGain;
    entry.toGain = facts.toGain;
    entry.frame.set(frame);
  }

  /** The far end plays later than was thought. */
  delay(ms: number): void {
    for (let nth = 0; nth < this.#count; nth++) this.#entry(nth).playMs += ms;
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
    const { segment, at, fromGain, toGain } = entry;
    const heard = Math.max(0, Math.min(FRAME_SAMPLES, msToSamples(nowMs - entry.playMs)));
    const gain = fromGain + ((toGain - fromGain) * heard) / FRAME_SAMPLES;
    const position = this.#unheard(heard, gain);
    if (heard > 0) {
      this.#play(entry, heard);
      if (segment !== undefined) segment.playedSamples = at + heard;
    }
    this.#count = 0;
    return position;
  }

  #unheard(heardOfFirst: number, gain: number): Position | undefined {
    for (let nth = 0; nth < this.#count; nth++) {
      const { segment, at } = this.#entry(nth);
      if (segment !== undefined) {
        return { segment, at: nth === 0 ? at + heardOfFirst : at, gain };
      }
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
