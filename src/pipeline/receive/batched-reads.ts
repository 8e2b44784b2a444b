// The way in from the caller where it can be read at a call's turn: in long strides what has come since the
// last one is read in one go, so that the call's state is visited once for all of it.

import { FRAME_MS } from '../../audio/pcm.ts';

export interface BatchedReadSource {
  /** From here on audio comes during `take`; with `false`, by itself again. */
  setBatched(on: boolean): void;
  readNow(): void;
}

export class BatchedReader {
  readonly #inflow: BatchedReadSource | undefined;
  #isGathering = false;

  /** Undefined: the caller's audio always comes by itself. */
  constructor(inflow: BatchedReadSource | undefined) {
    this.#inflow = inflow;
  }

  /** The call's turn; the next one comes after `strideMs`. */
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
