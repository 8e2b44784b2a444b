// Monitors Asterisk's playout queue. Asterisk plays one frame at each tick of its timer and never makes up for a
// missed tick, so on a busy machine its queue grows while the agent speaks. GET_STATUS polls its length. Source:
// asterisk §0.11, §2.9.

/** One frame is played at each tick. */
const FRAME_MS = 20;
/** Frames between two polls: half a second of audio. */
const ASK_FRAMES = 25;
/** Polls without an answer. After more, the PBX does not answer at all. */
const ASKED_MAX = 16;
/** Longest queue that an answer may report; Asterisk's holds fewer frames. */
const QUEUE_FRAMES_MAX = 2_000;

interface Asked {
  /** Frames sent at that time; NaN if a clear took them back since. */
  sentFrames: number;
  atMs: number;
}

export class QueueMonitor {
  readonly #nowMs: () => number;
  #frameBytes: number | undefined;
  #sentFrames = 0;
  #askedFrames = 0;
  #asked: Asked[] = [];

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Starts with an empty queue. `frameBytes`: bytes of 20 ms; undefined where Asterisk has no queue. */
  begin(frameBytes: number | undefined): void {
    this.#frameBytes = frameBytes;
    this.#sentFrames = 0;
    this.#askedFrames = 0;
    this.#asked = [];
  }

  /** Counts sent bytes. Returns whether a poll is due. */
  sent(bytes: number): boolean {
    if (this.#frameBytes === undefined) return false;
    this.#sentFrames += bytes / this.#frameBytes;
    return this.#sentFrames - this.#askedFrames >= ASK_FRAMES;
  }

  /** Records a poll. False if too many are unanswered. */
  poll(): boolean {
    this.#askedFrames = this.#sentFrames;
    if (this.#asked.length >= ASKED_MAX) return false;
    this.#asked.push({ sentFrames: this.#sentFrames, atMs: this.#nowMs() });
    return true;
  }

  /** A clear took back the sent audio. */
  flushed(): void {
    for (const asked of this.#asked) asked.sentFrames = Number.NaN;
  }

  /** Lower bound in milliseconds of all sent audio that is not played yet, from the answer to the oldest poll.
   *  Asterisk may have answered at any moment since the poll. Undefined if a clear made the answer useless. */
  answered(queuedFrames: number): number | undefined {
    const asked = this.#asked.shift();
    if (asked === undefined || Number.isNaN(asked.sentFrames)) return undefined;
    const queued = Math.min(Math.max(0, queuedFrames), QUEUE_FRAMES_MAX);
    const frames = queued + this.#sentFrames - asked.sentFrames;
    return Math.max(0, frames * FRAME_MS - (this.#nowMs() - asked.atMs));
  }
}
