// Backoff before a process that died is restarted: no wait the first time, then growing waits, until the process has
// run without a fault for a while.

import type { Clock } from './clock.ts';

/** Wait before the second restart: half a second, doubled each time. The cause, such as a full disk, may be removed at
 *  any time, so restarts never stop. */
const STEP_MS = 500;
const PAUSE_MS_MAX = 30_000;
const QUIET_MS = 60_000;

export class RestartBackoff {
  readonly #clock: Clock;
  /** Restarts since the process last ran for a minute. */
  #deaths = 0;
  #servedSinceMs: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Records that the process runs. */
  noteHealthy(): void {
    this.#servedSinceMs = this.#clock.monotonicMs();
  }

  /** Records that the process died or did not start. Returns the milliseconds to wait. */
  nextDelayMs(): number {
    const since = this.#servedSinceMs;
    this.#servedSinceMs = undefined;
    if (since !== undefined && this.#clock.monotonicMs() - since > QUIET_MS) this.#deaths = 0;
    this.#deaths += 1;
    return this.#deaths === 1 ? 0 : Math.min(STEP_MS * 2 ** (this.#deaths - 2), PAUSE_MS_MAX);
  }
}
