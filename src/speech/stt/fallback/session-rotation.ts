// Decides when a session with a maximum duration is replaced: in a pause before its end, or without a pause shortly
// before it.

import type { Clock, Timer } from '../../../std/clock.ts';

/** Shares of the longest session after which it is replaced: in a pause, and without a pause. */
const ROTATION_SHARE = 0.95;
const ROTATION_SHARE_MAX = 0.99;

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
