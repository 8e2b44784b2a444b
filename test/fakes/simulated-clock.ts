// A simulated clock that moves by itself, for tests in which both ends of a real connection over loopback are in one process.
// Time passes only between turns of the event loop, so that a loaded machine makes nothing late.

import type { Timer } from '../../src/std/clock.ts';
import { FakeClock } from './fake-clock.ts';

const STEP_MS = 20;
/** A request and its reply over loopback take about as many turns as two steps. */
const TURNS_PER_STEP = 12;

export class SimulatedClock extends FakeClock {
  #isMoving = false;
  #isStopped = false;

  /** The wall clock begins at the real time: signatures of requests are checked against it. */
  constructor() {
    super(Date.now());
  }

  /** Time passes while a timer waits. */
  override after(delayMs: number, run: () => void): Timer {
    const timer = super.after(delayMs, run);
    if (!this.#isMoving && !this.#isStopped) void this.#move();
    return timer;
  }

  /** No timer runs after this. */
  stop(): void {
    this.#isStopped = true;
  }

  async #move(): Promise<void> {
    this.#isMoving = true;
    while (this.timers > 0 && !this.#isStopped) {
      for (let turn = 0; turn < TURNS_PER_STEP; turn++) {
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
      if (!this.#isStopped) this.advance(STEP_MS);
    }
    this.#isMoving = false;
  }
}
