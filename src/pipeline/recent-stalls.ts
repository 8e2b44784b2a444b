// The longest stall of the event loop in the last seconds. Stalls recur: with hundreds of conversations a full garbage
// collection stops it for 100 to 160 ms, about every ten seconds.

import { FRAME_MS } from '../audio/pcm.ts';

/** Period of the memory: a stall counts for one to two of them. */
const WINDOW_MS = 15_000;
/** Shortest stall; the lead covers shorter ones. */
const STALL_MS_MIN = FRAME_MS;

export class RecentStalls {
  #windowMs = 0;
  #currentMs = 0;
  #previousMs = 0;

  /** The longest stall in whole milliseconds, 0 without one. */
  get maxMs(): number {
    return Math.max(this.#currentMs, this.#previousMs);
  }

  /** Notes that at `nowMs` the event loop began work that was due `lateMs` before. Both in whole milliseconds. */
  note(nowMs: number, lateMs: number): void {
    const ageMs = nowMs - this.#windowMs;
    if (ageMs >= WINDOW_MS) {
      this.#previousMs = ageMs < 2 * WINDOW_MS ? this.#currentMs : 0;
      this.#currentMs = 0;
      this.#windowMs = nowMs;
    }
    if (lateMs > STALL_MS_MIN && lateMs > this.#currentMs) this.#currentMs = lateMs;
  }
}
