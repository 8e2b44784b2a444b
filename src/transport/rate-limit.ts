// Rate limit of a media connection per second: real time, with a margin for a network that catches up.

import type { Clock } from '../std/clock.ts';

const WINDOW_MS = 1_000;

export interface RateLimit {
  messagesPerSecondMax: number;
  bytesPerSecondMax: number;
}

export class RateLimiter {
  readonly #clock: Clock;
  readonly #rate: RateLimit;
  #startMs: number;
  #messages = 0;
  #bytes = 0;

  constructor(clock: Clock, rate: RateLimit) {
    this.#clock = clock;
    this.#rate = rate;
    this.#startMs = clock.monotonicMs();
  }

  /** Counts one message; false if the limit is exceeded. */
  allows(bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#startMs >= WINDOW_MS) {
      this.#startMs = nowMs;
      this.#messages = 0;
      this.#bytes = 0;
    }
    this.#messages += 1;
    this.#bytes += bytes;
    const { messagesPerSecondMax, bytesPerSecondMax } = this.#rate;
    return this.#messages <= messagesPerSecondMax && this.#bytes <= bytesPerSecondMax;
  }
}
