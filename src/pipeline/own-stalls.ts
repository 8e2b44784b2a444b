// When a caller left whose media ended while this process was suspended (stopped, starved, swapped out): what came
// meanwhile, and the end itself, is read after the stall. No call is ended here, and nothing is dropped.

/** Turns of a call are 80 ms apart at most; a busy process misses some. */
const STALL_MS_MIN = 1_000;
/** What waited in the kernel's buffers is read within this time. */
const BACKLOG_MS_MAX = 5_000;

export class OwnStalls {
  #turnMs = 0;
  /** The last stall, in media time. */
  #fromMs = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** The process runs at `nowMs` of media time. */
  turn(nowMs: number): void {
    if (nowMs - this.#turnMs >= STALL_MS_MIN) {
      this.#fromMs = this.#turnMs;
      this.#untilMs = nowMs;
    }
    this.#turnMs = nowMs;
  }

  /** When media ended of which the end is read at `nowMs` and whose audio reaches up to `heardMs`: at once, or
   *  within a stall that is just over if no audio of a later time has come. */
  endOfMedia(heardMs: number, nowMs: number): number {
    this.turn(nowMs);
    const isBacklog = nowMs - this.#untilMs <= BACKLOG_MS_MAX && heardMs <= this.#untilMs;
    return isBacklog ? Math.max(this.#fromMs, Math.floor(heardMs)) : nowMs;
  }
}
