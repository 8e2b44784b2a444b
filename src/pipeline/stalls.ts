// Determines when a caller left whose media ended while this process was suspended (stopped, starved, swapped out):
// audio of that time, and the end itself, is read after the stall.

/** Shortest stall. Turns of a call are 80 ms apart at most; a busy process misses some. */
const STALL_MS_MIN = 1_000;
/** Time after a stall in which the kernel's buffers are read. */
const BACKLOG_MS_MAX = 5_000;

export class OwnStalls {
  #turnMs = 0;
  /** Begin and end of the last stall, in media time. */
  #fromMs = 0;
  #untilMs = Number.NEGATIVE_INFINITY;

  /** Notes that the process runs at `nowMs` of media time. */
  turn(nowMs: number): void {
    if (nowMs - this.#turnMs >= STALL_MS_MIN) {
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
