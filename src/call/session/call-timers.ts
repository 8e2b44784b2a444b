// The timers of one call, so that none outlives it and none brings the process down.

import type { Clock, Timer } from '../../std/clock.ts';

/** The same time; what a timer's work throws goes to `onError`. */
export function guardedClock(clock: Clock, onError: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs, run) =>
      clock.after(delayMs, () => {
        try {
          run();
        } catch (error) {
          onError(error);
        }
      }),
  };
}

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
