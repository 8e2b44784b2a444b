// How much of what Asterisk was sent it has still to play. It plays one frame at each beat of its timer, and
// a beat that it misses it never makes up for: on a busy machine its queue would grow as long as the agent
// speaks. So it is asked. Source: asterisk §0.11, §2.9.

/** One frame is played at each beat. */
const FRAME_MS = 20;
/** It is asked once in half a second of audio. */
const ASK_FRAMES = 25;
/** Questions without an answer: more says that there is none. */
const ASKED_MAX = 16;
/** More than its queue takes. */
const QUEUE_FRAMES_MAX = 2_000;

interface Asked {
  /** What had been sent by then; NaN if that was taken back since. */
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

  /** A queue that is empty. `frameBytes` of 20 ms; undefined where there is no queue to ask for. */
  begin(frameBytes: number | undefined): void {
    this.#frameBytes = frameBytes;
    this.#sentFrames = 0;
    this.#askedFrames = 0;
    this.#asked = [];
  }

  /** True: it is time to ask. */
  sent(bytes: number): boolean {
    if (this.#frameBytes === undefined) return false;
    this.#sentFrames += bytes / this.#frameBytes;
    return this.#sentFrames - this.#askedFrames >= ASK_FRAMES;
  }

  /** It is asked now; false if it has not answered so often that it will not. */
  poll(): boolean {
    this.#askedFrames = this.#sentFrames;
    if (this.#asked.length >= ASKED_MAX) return false;
    this.#asked.push({ sentFrames: this.#sentFrames, atMs: this.#nowMs() });
    return true;
  }

  /** What was sent was taken back. */
  flushed(): void {
    for (const asked of this.#asked) asked.sentFrames = Number.NaN;
  }

  /** So many frames were queued when it answered: how much of all that was sent by now is not played yet, in
   *  milliseconds, at least. It may have answered at any moment since it was asked. Undefined if the
   *  answer says nothing of that. */
  answered(queuedFrames: number): number | undefined {
    const asked = this.#asked.shift();
    if (asked === undefined || Number.isNaN(asked.sentFrames)) return undefined;
    const queued = Math.min(Math.max(0, queuedFrames), QUEUE_FRAMES_MAX);
    const frames = queued + this.#sentFrames - asked.sentFrames;
    return Math.max(0, frames * FRAME_MS - (this.#nowMs() - asked.atMs));
  }
}
