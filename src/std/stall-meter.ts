// Detects stalls of this process: its event loop was blocked, or the process was stopped (SIGSTOP, a suspended machine).
// After one, its connections have a backlog in the kernel, whose old audio is dropped.

export interface Stall {
  /** Monotonic time of the stall's end. */
  endMs: number;
  ms: number;
}

const BEAT_MS = 250;
/** Shortest stall. A shorter delay is a busy process, whose backlog is processed late but not dropped. */
const STALL_MS_MIN = 500;
/** Time after a stall in which its backlog is read: seconds with a thousand calls. */
const BACKLOG_MS_MAX = 5_000;

/** The parts of a clock that the meter needs. */
interface Beats {
  monotonicMs(): number;
  /** Calls `run` after `delayMs`. Must not keep the process alive. */
  after(delayMs: number, run: () => void): unknown;
}

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
