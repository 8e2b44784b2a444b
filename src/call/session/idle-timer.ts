// Notices that nobody has spoken for a while. It waits again while either side is at it.

import type { Clock, Timer } from '../../std/clock.ts';

export class IdleTimer {
  readonly #clock: Clock;
  readonly #idleMs: number;
  readonly #busy: () => boolean;
  readonly #onIdle: () => void;
  #timer: Timer | undefined;

  constructor(options: { clock: Clock; idleMs: number; busy: () => boolean; onIdle: () => void }) {
    this.#clock = options.clock;
    this.#idleMs = options.idleMs;
    this.#busy = options.busy;
    this.#onIdle = options.onIdle;
  }

  /** Somebody did something: the silence begins anew. */
  reset(): void {
    this.stop();
    this.#timer = this.#clock.after(this.#idleMs, () => this.#due());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #due(): void {
    const silent = !this.#busy();
    this.reset();
    if (silent) this.#onIdle();
  }
}
