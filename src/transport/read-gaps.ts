// Batched reads that report the times in which a connection was not read because the process had no turn for it. Its
// peer is not silent meanwhile, and what it sent is no flood.

import type { BatchedReads } from '../runtime/direct-socket.ts';
import type { Clock } from '../std/clock.ts';

/** What comes in a shorter time is within the limits of one second. */
const GAP_MS_MIN = 500;

export class ReadGaps implements BatchedReads {
  readonly #reads: BatchedReads;
  readonly #clock: Clock;
  readonly #onGap: (ms: number) => void;
  #isBatched = false;
  #readMs = 0;

  /** `onGap` is called before what came in the gap is read. */
  constructor(reads: BatchedReads, clock: Clock, onGap: (ms: number) => void) {
    this.#reads = reads;
    this.#clock = clock;
    this.#onGap = onGap;
  }

  setBatched(on: boolean): void {
    this.#isBatched = on;
    this.#readMs = this.#clock.monotonicMs();
    this.#reads.setBatched(on);
  }

  readNow(): void {
    if (!this.#isBatched) return;
    const nowMs = this.#clock.monotonicMs();
    const gapMs = nowMs - this.#readMs;
    this.#readMs = nowMs;
    if (gapMs >= GAP_MS_MIN) this.#onGap(gapMs);
    this.#reads.readNow();
  }
}
