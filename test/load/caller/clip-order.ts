// Follows the watermark of one call: what of a clip did not come, came late or twice. A piece without a mark
// within a clip is one that did not come: its place was taken by something else.

import type { Heard } from './heard.ts';
import { MARK_FRAMES_MAX } from './watermark.ts';

/** Pieces that may still come late; those beyond are lost for good. */
const MISSING_MAX = 64;

export class ClipOrder {
  readonly #heard: Heard;
  readonly #clipFrames: readonly number[];
  readonly #missing: number[] = [];
  /** -1: nothing was heard that the next piece must continue. */
  #clip = -1;
  /** The piece that is to come. */
  #next = 0;
  /** After a clear a clip may go on anywhere. */
  #anywhere = false;

  constructor({ heard, clipFrames }: { heard: Heard; clipFrames: readonly number[] }) {
    this.#heard = heard;
    this.#clipFrames = clipFrames;
  }

  /** Whether a clip has begun and not come to its end. */
  get open(): boolean {
    return this.#clip >= 0 && this.#next < this.#lengthOf(this.#clip);
  }

  /** Whether it is the mark of a clip's first piece. */
  isFirst(mark: number): boolean {
    return mark >= 0 && mark % MARK_FRAMES_MAX === 0;
  }

  clear(): void {
    this.#clip = -1;
    this.#anywhere = true;
    this.#missing.length = 0;
  }

  /** The mark of the next frame that came, or -1. */
  follow(mark: number): void {
    if (mark < 0) return;
    this.#heard.markedFrames += 1;
    const index = mark % MARK_FRAMES_MAX;
    const clip = Math.floor(mark / MARK_FRAMES_MAX);
    if (clip === this.#clip && index > 0 && index < this.#next) {
      this.#late(index);
      return;
    }
    if (clip !== this.#clip || index === 0) this.#begin(clip, index);
    this.#heard.lostFrames += index - this.#next;
    for (let skipped = this.#next; skipped < index; skipped++) {
      if (this.#missing.length < MISSING_MAX) this.#missing.push(skipped);
    }
    this.#next = index + 1;
  }

  #begin(clip: number, index: number): void {
    if (this.open) this.#heard.lostFrames += this.#lengthOf(this.#clip) - this.#next;
    this.#clip = clip;
    this.#next = this.#anywhere ? index : 0;
    this.#anywhere = false;
    this.#missing.length = 0;
  }

  #late(index: number): void {
    this.#heard.reorderedFrames += 1;
    const at = this.#missing.indexOf(index);
    if (at < 0) return;
    this.#missing.splice(at, 1);
    this.#heard.lostFrames -= 1;
  }

  #lengthOf(clip: number): number {
    return this.#clipFrames[clip] ?? 0;
  }
}
