// Time as a thing that is handed in: wall clock, monotonic clock and timers. Tests hand in a fake.

export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, milliseconds since 1970. May jump. */
  now(): number;
  /** Monotonic milliseconds with fractions, from an arbitrary origin. Never goes back. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`, which does not keep the process alive; with 0 or less as soon as whatever
   *  else is due has had its turn. */
  after(delayMs: number, run: () => void): Timer;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, run) {
    if (delayMs <= 0) {
      // Not `unref`: the event loop would not wake up for it.
      const handle = setImmediate(run);
      return { cancel: () => clearImmediate(handle) };
    }
    const handle = setTimeout(run, delayMs);
    handle.unref();
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Resolves when whatever else is due in this process has had its turn: for long work that is cut into
 *  pieces. It measures no time, so tests need no fake. */
export function nextTick(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
