// Counts the finals that a recogniser owes: exactly one for each `finalize`, even if the service answers late, twice or
// never. Used by the clients of streaming services.

import type { Clock, Timer } from '../../../std/clock.ts';

/** A caller of this interface that makes more requests without an answer is faulty. */
const OWED_MAX = 16;

export class OwedFinals {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #isReady: () => boolean;
  readonly #onOverdue: () => void;
  #count = 0;
  #timer: Timer | undefined;

  /** `onOverdue`: called if no answer arrived within `afterMs`; it calls `answer`, or ends the recogniser. Before the
   *  service is ready, nothing is overdue: connecting has its own deadline. */
  constructor(options: {
    clock: Clock;
    afterMs: number;
    isReady: () => boolean;
    onOverdue: () => void;
  }) {
    this.#clock = options.clock;
    this.#afterMs = options.afterMs;
    this.#isReady = options.isReady;
    this.#onOverdue = options.onOverdue;
  }

  get isDue(): boolean {
    return this.#count > 0;
  }

  ask(): void {
    this.#count = Math.min(OWED_MAX, this.#count + 1);
    if (this.#timer === undefined) this.#await();
  }

  /** Records an answer. Returns whether one was due. */
  answer(): boolean {
    if (this.#count === 0) return false;
    this.#count -= 1;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#count > 0) this.#await();
    return true;
  }

  close(): void {
    this.#count = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #await(): void {
    this.#timer = this.#clock.after(this.#afterMs, () => {
      this.#timer = undefined;
      if (this.#isReady()) this.#onOverdue();
      else this.#await();
    });
  }
}
