// The finals that a recogniser owes: exactly one for each `finalize`, also when the service answers late, twice or not
// at all. Used by the clients of streaming services.

import type { Clock, Timer } from '../../std/clock.ts';

/** A caller of this interface that asks more often without an answer is faulty. */
const OWED_MAX = 16;

export class OwedFinals {
  readonly #clock: Clock;
  readonly #afterMs: number;
  readonly #onOverdue: () => void;
  #count = 0;
  #timer: Timer | undefined;

  /** `onOverdue`: no answer came within `afterMs`; it calls `answer`, or ends the recogniser. */
  constructor(options: { clock: Clock; afterMs: number; onOverdue: () => void }) {
    this.#clock = options.clock;
    this.#afterMs = options.afterMs;
    this.#onOverdue = options.onOverdue;
  }

  get isDue(): boolean {
    return this.#count > 0;
  }

  ask(): void {
    this.#count = Math.min(OWED_MAX, this.#count + 1);
    this.#timer ??= this.#clock.after(this.#afterMs, () => this.#overdue());
  }

  /** An answer goes out. Returns whether one was due. */
  answer(): boolean {
    if (this.#count === 0) return false;
    this.#count -= 1;
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#count > 0) this.#timer = this.#clock.after(this.#afterMs, () => this.#overdue());
    return true;
  }

  close(): void {
    this.#count = 0;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #overdue(): void {
    this.#timer = undefined;
    this.#onOverdue();
  }
}
