// Batched reads of the caller's audio at a call's turn: with long strides, everything since the last turn is read
// at once, so that the call's state is loaded once for all of it.

import { FRAME_MS } from '../../audio/pcm.ts';

export interface BatchedReadSource {
  /** Delivers audio during `take` from here on; after `false`, by events again. */
  setBatched(on: boolean): void;
  readNow(): void;
}

export class BatchedReader {
  readonly #inflow: BatchedReadSource | undefined;
  #isGathering = false;

  /** `inflow`: undefined if the caller's audio is always delivered by events. */
  constructor(inflow: BatchedReadSource | undefined) {
    this.#inflow = inflow;
  }

  /** Reads at the call's turn; the next one comes after `strideMs`. */
  poll(strideMs: number): void {
    this.#gather(strideMs > FRAME_MS);
    if (this.#isGathering) this.#inflow?.readNow();
  }

  close(): void {
    this.#gather(false);
  }

  #gather(on: boolean): void {
    if (on === this.#isGathering) return;
    this.#isGathering = on;
    this.#inflow?.setBatched(on);
  }
}
