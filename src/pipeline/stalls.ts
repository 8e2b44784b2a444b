// Stalls of this process in media time: the longest of the last seconds, and the one in which a caller's media ended.
// Whether connections have a backlog after a stall is std/clock's.

import { FRAME_MS } from '../audio/pcm.ts';

/** Shortest stall that suspends a call. Its turns are 80 ms apart at most; a busy process misses some. */
const SUSPENDED_MS_MIN = 1_000;
/** Time after a stall in which the kernel's buffers are read. */
const BACKLOG_MS_MAX = 5_000;
/** Period of the memory: a stall counts for one to two of them. */
const WINDOW_MS = 15_000;
/** Shortest stall that is remembered; the lead of playout covers shorter ones. */
const STALL_MS_MIN = FRAME_MS;

/** Determines when a caller left whose media ended while this process was suspended (stopped, starved, swapped out): audio
 *  of that time, and the end itself, is read after the stall. */
export class OwnStalls {
  #turnMs = 0;
  /** Begin and end of the last stall, in media time. */
  #fromMs = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** Notes that the process runs at `nowMs` of media time. */
  turn(nowMs: number): void {
    if (nowMs - this.#turnMs >= SUSPENDED_MS_MIN) {
      this.#fromMs = this.#turnMs;
      this.#untilMs = nowMs;
    }
    this.#turnMs = nowMs;
  }

  /** Time of the media's end. `nowMs`: when the end is read; `heardMs`: end of the audio. It is `nowMs`, or within a
   *  stall that is just over if no audio of a later time has arrived. */
  endOfMedia(heardMs: number, nowMs: number): number {
    this.turn(nowMs);
    const isBacklog = nowMs - this.#untilMs <= BACKLOG_MS_MAX && heardMs <= this.#untilMs;
    return isBacklog ? Math.max(this.#fromMs, Math.floor(heardMs)) : nowMs;
  }
}

/** The longest stall of the event loop in the last seconds. Stalls recur: with hundreds of conversations a full garbage
 *  collection stops it for 100 to 160 ms, about every ten seconds. */
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
