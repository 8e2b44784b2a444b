// When a recogniser gets another session of the same service: after a fault, once until a session has lasted; and
// before the end of a session with a maximum duration.

import type { Clock, Timer } from '../../../std/clock.ts';
import type { ServiceFault } from '../../service/service-fault.ts';

/** A service is retried at once unless its previous session was shorter than this. */
const LASTING_MS = 30_000;

export class SessionRetry {
  #isUsed = false;

  /** Resets the count, since another service is used. */
  reset(): void {
    this.#isUsed = false;
  }

  /** `livedMs`: duration of the session that failed. `isLastResort`: no later service understands free speech. */
  take(
    fault: ServiceFault,
    { livedMs, isLastResort }: { livedMs: number; isLastResort: boolean },
  ): boolean {
    if (livedMs >= LASTING_MS) this.#isUsed = false;
    const isTransient = fault.kind === 'timeout' || fault.kind === 'protocol';
    if (this.#isUsed || !(fault.isRepeatable || (isLastResort && isTransient))) return false;
    this.#isUsed = true;
    return true;
  }
}

/** Shares of the longest session after which it is replaced: in a pause, and without a pause. */
const ROTATION_SHARE = 0.95;
const ROTATION_SHARE_MAX = 0.99;

/** Decides when a session with a maximum duration is replaced: in a pause before its end, or without a pause shortly
 *  before it. */
export class SessionRotation {
  readonly #clock: Clock;
  readonly #listener: { onDue(): void; onOverdue(): void };
  #timers: Timer[] = [];
  #isDue = false;

  constructor(clock: Clock, listener: { onDue(): void; onOverdue(): void }) {
    this.#clock = clock;
    this.#listener = listener;
  }

  get isDue(): boolean {
    return this.#isDue;
  }

  /** Starts the timers for a new session. Undefined: it has no limit. */
  await(sessionMsMax: number | undefined): void {
    if (sessionMsMax === undefined) return;
    this.#timers = [
      this.#clock.after(sessionMsMax * ROTATION_SHARE, () => {
        this.#isDue = true;
        this.#listener.onDue();
      }),
      this.#clock.after(sessionMsMax * ROTATION_SHARE_MAX, () => this.#listener.onOverdue()),
    ];
  }

  cancel(): void {
    for (const timer of this.#timers.splice(0)) timer.cancel();
    this.#isDue = false;
  }
}
