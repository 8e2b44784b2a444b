// When a session that may last only so long is replaced: in a pause before its end, and without a pause shortly before
// it.

import type { Clock, Timer } from '../../../std/clock.ts';

/** In the pause after this share of the longest session, and without a pause after the second. */
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

  /** Of a session that opens. Undefined: it has no limit. */
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
