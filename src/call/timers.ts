// The timers of one call, so that none outlives it.

import type { Clock, Timer } from '../std/clock.ts';

export class CallTimers {
  readonly #clock: Clock;
  readonly #timers = new Set<Timer>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  after(delayMs: number, run: () => void): void {
    const timer = this.#clock.after(delayMs, () => {
      this.#timers.delete(timer);
      run();
    });
    this.#timers.add(timer);
  }

  cancelAll(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }
}
