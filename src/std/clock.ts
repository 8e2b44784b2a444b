// Time as a dependency: wall clock, monotonic clock and timers. Tests pass in a fake.

import { type Stall, StallMeter } from './stall-meter.ts';

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Monotonic milliseconds with fractions, from an arbitrary origin. Never goes back. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`; the timer does not keep the process alive. With 0 or less: after all other due
   *  events of the event loop. */
  after(delayMs: number, run: () => void): Timer;
  /** Last stall of this process, if its backlog may still be unread. Detection starts with the first call. */
  lastStall(): Stall | undefined;
}

let stalls: StallMeter | undefined;

export const systemClock: Clock = {
  now: () => Date.now(),
  lastStall() {
    stalls ??= new StallMeter(systemClock);
    return stalls.latest();
  },
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    if (delayMs <= 0) {
      // Not `unref`: a loop without other work would end before it.
      const handle = setImmediate(run);
      return { cancel: () => clearImmediate(handle) };
    }
    const handle = setTimeout(run, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves after all other due events of this process, to split long work into pieces. It measures no time, so tests
 *  need no fake. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
