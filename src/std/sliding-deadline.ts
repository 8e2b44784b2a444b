// A deadline that is postponed often, for example by each message of a connection: postponing costs a comparison, no
// timer.

import type { Clock, Timer } from './clock.ts';

export class SlidingDeadline {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  /** Monotonic time in milliseconds. */
  #dueAt: number | undefined;
  #timer: Timer | undefined;
  /** Monotonic time of the timer in milliseconds; never after `#dueAt`. */
  #timerAt = 0;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get isSet(): boolean {
    return this.#dueAt !== undefined;
  }

  /** Sets the deadline to `ms` from now, in place of any earlier one. `onDue` is called once. */
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
