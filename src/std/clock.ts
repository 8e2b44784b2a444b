// Time as a dependency: wall clock, monotonic clock, timers, and stalls of this process. Tests pass in a fake.

/** Interval at which stalls are looked for. */
const BEAT_MS = 250;
/** Shortest stall. A shorter delay is a busy process, whose backlog is processed late but not dropped. */
const STALL_MS_MIN = 500;
/** Time after a stall in which its backlog is read: seconds with a thousand calls. */
const BACKLOG_MS_MAX = 5_000;

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

export interface Stall {
  /** Monotonic time of the stall's end. */
  endMs: number;
  ms: number;
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

/** The parts of a clock that the meter needs. */
interface Beats {
  monotonicMs(): number;
  /** Calls `run` after `delayMs`. Must not keep the process alive. */
  after(delayMs: number, run: () => void): unknown;
}

/** Detects stalls of this process: its event loop was blocked, or the process was stopped (SIGSTOP, a suspended machine).
 *  After one, its connections have a backlog in the kernel, whose old audio is dropped. */
export class StallMeter {
  readonly #clock: Beats;
  #beatMs: number;
  #latest: Stall | undefined;

  constructor(clock: Beats) {
    this.#clock = clock;
    this.#beatMs = clock.monotonicMs();
    clock.after(BEAT_MS, this.#beat);
  }

  /** Last stall, while connections may still have its backlog. Computed at each call: when a process resumes, its reads
   *  come before its timers. */
  latest(): Stall | undefined {
    const nowMs = this.#clock.monotonicMs();
    const ms = nowMs - this.#beatMs - BEAT_MS;
    if (ms >= STALL_MS_MIN) {
      this.#latest = { endMs: nowMs, ms };
      this.#beatMs = nowMs;
    } else if (this.#latest !== undefined && nowMs - this.#latest.endMs > BACKLOG_MS_MAX) {
      this.#latest = undefined;
    }
    return this.#latest;
  }

  readonly #beat = (): void => {
    this.latest();
    this.#beatMs = this.#clock.monotonicMs();
    this.#clock.after(BEAT_MS, this.#beat);
  };
}
