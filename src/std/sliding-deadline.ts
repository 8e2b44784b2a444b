// A deadline that is put off again and again, as by each message of a connection: putting it off costs a comparison, no
// timer.

import type { Clock, Timer } from './clock.ts';

export class SlidingDeadline {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  /** Monotonic. */
  #dueAt: number | undefined;
  #timer: Timer | undefined;
  /** Monotonic; never after `#dueAt`. */
  #timerAt = 0;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get isSet(): boolean {
    return this.#dueAt !== undefined;
  }

  /** `onDue` is called once, `ms` from now, in place of any time set before. */
  set(ms: number): void {
    const dueAt = this.#clock.monotonicMs() + ms;
    this.#dueAt = dueAt;
    if (this.#timer !== undefined && this.#timerAt <= dueAt) return;
    this.#timer?.cancel();
    this.#await(ms, dueAt);
  }

  clear(): void {
    this.#dueAt = undefined;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #await(ms: number, dueAt: number): void {
    this.#timerAt = dueAt;
    this.#timer = this.#clock.after(ms, () => this.#fired());
  }

  #fired(): void {
    this.#timer = undefined;
    if (this.#dueAt === undefined) return;
    const leftMs = this.#dueAt - this.#clock.monotonicMs();
    // Timers may fire a fraction of a millisecond early.
    if (leftMs >= 1) {
      this.#await(leftMs, this.#dueAt);
      return;
    }
    this.#dueAt = undefined;
    this.#onDue();
  }
}
