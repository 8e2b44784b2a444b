// Background job that runs repeatedly: after an interval, at once when it is woken, later after failures (exponential
// backoff with jitter). One run at a time. The job logs its own failures.

import type { Clock, Timer } from './clock.ts';
import type { Random } from './random.ts';
import { inShare } from './work-share.ts';

/** Default limit for `stop` to wait for the run in progress; callers may give a shorter one. */
const STOP_MS_MAX = 120_000;

export interface JobLoopOptions {
  clock: Pick<Clock, 'after'>;
  /** Wait from the end of one run to the next. */
  everyMs: number | (() => number);
  /** Wait from a wake-up to the run. Default 0: at once. */
  wokenMs?: number;
  /** Wait from a failed run to the next. Default: `everyMs`. */
  retryMs?: number;
  /** Doubles the wait with each failure in a row, up to `msMax`, and adds up to a quarter at random, so that processes
   *  that lost the same database do not reconnect at the same time. */
  backoff?: { msMax: number; random: Random };
  /** Carries out the job. `signal` is aborted when the loop stops. */
  run(signal: AbortSignal): Promise<unknown>;
  onError(error: unknown): void;
}

export class JobLoop {
  readonly #options: JobLoopOptions;
  readonly #stopping = new AbortController();
  #hasStarted = false;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  /** Whether another run follows this one. */
  #isWoken = false;
  /** Whether a wake-up set the timer. */
  #isSoon = false;
  /** Failures in a row. */
  #failures = 0;

  constructor(options: JobLoopOptions) {
    this.#options = options;
  }

  /** Starts the first run at once, and resolves when it is over. Never rejects. */
  async start(): Promise<void> {
    if (this.#hasStarted || this.hasStopped) return;
    this.#hasStarted = true;
    this.#begin();
    await this.#running;
  }

  /** Starts the first run after `ms`. */
  startAfter(ms: number): void {
    if (this.#hasStarted || this.hasStopped) return;
    this.#hasStarted = true;
    this.#wait(ms);
  }

  get hasStopped(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Requests a run, since the state has changed. Resolves when the run in progress and the next one are over (with
   *  `wokenMs`: at once). Never rejects; does nothing before the start and after the stop. */
  async wake(): Promise<void> {
    if (!this.#hasStarted || this.hasStopped) return;
    const { wokenMs = 0 } = this.#options;
    if (this.#running !== undefined) this.#isWoken = true;
    else if (wokenMs === 0) this.#begin();
    else if (!this.#isSoon) this.#wait(wokenMs);
    if (wokenMs === 0) await this.#running;
  }

  /** Prevents further runs. */
  cancel(): void {
    this.#stopping.abort();
    this.#timer?.cancel();
  }

  /** Prevents further runs and waits for the one in progress. Never rejects. */
  async stop(waitMsMax = STOP_MS_MAX): Promise<void> {
    this.cancel();
    if (this.#running === undefined) return;
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#options.clock.after(waitMsMax, resolve);
    });
    await Promise.race([this.#running, late]);
    timer?.cancel();
  }

  #begin(): void {
    this.#timer?.cancel();
    this.#isSoon = false;
    this.#running = this.#runWhileWoken();
  }

  async #runWhileWoken(): Promise<void> {
    const { wokenMs = 0 } = this.#options;
    let waitMs: number;
    do {
      this.#isWoken = false;
      waitMs = await this.#runOnce();
    } while (this.#isWoken && wokenMs === 0 && !this.hasStopped);
    this.#running = undefined;
    if (!this.hasStopped) this.#wait(this.#isWoken ? wokenMs : waitMs);
  }

  /** Runs the job. Returns the milliseconds to wait. Never rejects. */
  async #runOnce(): Promise<number> {
    const { everyMs, run, onError } = this.#options;
    try {
      // The share of the caller that woke it, or set its timer, does not apply.
      await inShare(undefined, () => run(this.#stopping.signal));
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      onError(error);
    }
    const ms = typeof everyMs === 'number' ? everyMs : everyMs();
    return this.#failures === 0 ? ms : this.#retryMs(ms);
  }

  #retryMs(everyMs: number): number {
    const { retryMs = everyMs, backoff } = this.#options;
    if (backoff === undefined) return retryMs;
    const ms = Math.min(backoff.msMax, retryMs * 2 ** (this.#failures - 1));
    return ms + backoff.random.integer(Math.ceil(ms / 4));
  }

  #wait(ms: number): void {
    const { clock, wokenMs = 0 } = this.#options;
    this.#timer?.cancel();
    this.#isSoon = ms <= wokenMs;
    this.#timer = clock.after(ms, () => this.#begin());
  }
}
