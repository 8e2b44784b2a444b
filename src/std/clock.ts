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
  /** Calls `run` once after `delayMs`; the timer does not keep the process alive. With 0 or less: after
   *  everything else that is due in the event loop. */
  after(delayMs: number, run: () => void): Timer;
  /** The last stall of this process, if its backlog may still be unread. Detected from the first call on. */
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

/** Resolves after everything else that is due in this process has run: for long work that is cut into pieces. It
 *  measures no time, so tests need no fake. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
