// When this process stood still: its event loop was blocked, or the process was stopped (SIGSTOP, a suspended
// machine). What the kernel kept of its connections meanwhile comes at once then, and is nobody's flood.

export interface Stall {
  /** Monotonic time of its end. */
  endMs: number;
  ms: number;
}

const BEAT_MS = 250;
/** Less is a busy process, whose connections hold no more than a second may bring. */
const STALL_MS_MIN = 500;
/** For so long after it connections may have a backlog of it: a thousand calls are read within seconds. */
const BACKLOG_MS_MAX = 5_000;

/** Of a clock. */
interface Beats {
  monotonicMs(): number;
  /** Must not keep the process alive. */
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

  /** The last one, while connections may still have a backlog of it. Reads come before timers when a process goes
   *  on, so it is found when it is asked for, not by the timer alone. */
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
