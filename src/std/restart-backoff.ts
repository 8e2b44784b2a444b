// How long to wait before a process that died is started again: not at all for the first time, then ever
// longer, until it has run quietly for a while.

import type { Clock } from './clock.ts';

/** Between the first two: half a second, then twice as long each time. What keeps it from running, such as
 *  a full disk, may be mended at any time, so it is tried for ever. */
const STEP_MS = 500;
const PAUSE_MS_MAX = 30_000;
const QUIET_MS = 60_000;

export class RestartBackoff {
  readonly #clock: Clock;
  /** Since the last quiet minute. */
  #deaths = 0;
  #servedSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The process works. */
  noteHealthy(): void {
    this.#servedSinceMs = this.#clock.monotonicMs();
  }

  /** The process died, or could not be started; gives the milliseconds to wait. */
  nextDelayMs(): number {
    const since = this.#servedSinceMs;
    this.#servedSinceMs = undefined;
    if (since !== undefined && this.#clock.monotonicMs() - since > QUIET_MS) this.#deaths = 0;
    this.#deaths += 1;
    return this.#deaths === 1 ? 0 : Math.min(STEP_MS * 2 ** (this.#deaths - 2), PAUSE_MS_MAX);
  }
}
