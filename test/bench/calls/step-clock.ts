// A clock that moves by calls of a test. It has one timer, that of the media clock.

import { FRAME_MS } from '../../../src/audio/pcm.ts';
import type { Clock } from '../../../src/std/clock.ts';

const NEVER = { cancel: () => undefined };

export class StepClock implements Clock {
  nowMs = 0;
  #tick: (() => void) | undefined;

  now(): number {
    return Math.floor(this.nowMs);
  }

  monotonicMs(): number {
    return this.nowMs;
  }

  lastStall(): undefined {
    return undefined;
  }

  after(delayMs: number, run: () => void): { cancel(): void } {
    if (delayMs <= FRAME_MS + 1) this.#tick = run;
    return NEVER;
  }

  /** Runs the media clock. */
  tick(): void {
    this.#tick?.();
  }
}
