// Timers of one call or chat: none outlives it, and none keeps the process alive.

import type { Clock, Timer } from '../../../std/clock.ts';

/** A clock whose timers pass errors of their work to `onError`. */
export function guardedClock(clock: Clock, onError: (error: unknown) => void): Clock {
  return {
    now: () => clock.now(),
    monotonicMs: () => clock.monotonicMs(),
    lastStall: () => clock.lastStall(),
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

/** Idle timer: reports silence of both sides after a while, and again while it continues, except while either side
 *  is busy. */
export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #busy: () => boolean;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: { clock: Clock; idleMs: number; busy: () => boolean; onIdle: () => void }) {
    this.#clock = options.clock;
    this.#idleMs = options.idleMs;
    this.#busy = options.busy;
    this.#onIdle = options.onIdle;
  }

  /** Restarts the silence, after activity. */
  reset(): void {
    this.#timer?.cancel();
    this.#timer = this.#isClosed ? undefined : this.#clock.after(this.#idleMs, () => this.#due());
  }

  /** Stops the timer for good: an ending call still reports what the agent was saying, which must not restart the
   *  silence. */
  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #due(): void {
    const silent = !this.#busy();
    this.reset();
    if (silent) this.#onIdle();
  }
}
