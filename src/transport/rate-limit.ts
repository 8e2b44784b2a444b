// Rate limit of media messages: a number in each second, and on top what was due in real time and did not come. A backlog is
// no flood, whether this process, the network or the far end caused the delay.

import type { Clock } from '../std/clock.ts';

const WINDOW_MS = 1_000;
/** The allowance for a backlog grows by this share of the rate; packets of 10 ms need less. */
const CATCH_UP_SHARE = 0.5;
/** Seconds of the rate: at most this is caught up. Two minutes of packets of 20 ms where 500 a second are allowed, 72 s at RTP. */
const CATCH_UP_SECONDS_MAX = 12;

export interface RateLimit {
  messagesPerSecondMax: number;
  bytesPerSecondMax: number;
}

export class RateLimiter {
  readonly #clock: Clock;
  readonly #messages: Budget;
  readonly #bytes: Budget;
  /** Of the current second, and of the last message: nothing is due before the first. */
  #startMs = Number.NaN;
  #lastMs = Number.NaN;

  constructor(clock: Clock, rate: RateLimit) {
    this.#clock = clock;
    this.#messages = new Budget(rate.messagesPerSecondMax);
    this.#bytes = new Budget(rate.bytesPerSecondMax);
  }

  /** Counts one message; false if the limit is exceeded. */
  allows(bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const passedMs = Number.isNaN(this.#lastMs) ? 0 : nowMs - this.#lastMs;
    this.#lastMs = nowMs;
    const isNewSecond = !(nowMs - this.#startMs < WINDOW_MS);
    if (isNewSecond) this.#startMs = nowMs;
    const isOneAllowed = this.#messages.spend(1, passedMs, isNewSecond);
    return this.#bytes.spend(bytes, passedMs, isNewSecond) && isOneAllowed;
  }
}

class Budget {
  readonly #perSecondMax: number;
  /** Of the current second. */
  #spent = 0;
  /** What was due in real time, and did not come. */
  #saved = 0;

  constructor(perSecondMax: number) {
    this.#perSecondMax = perSecondMax;
  }

  /** Whether there is enough. `passedMs`: since the last amount. */
  spend(amount: number, passedMs: number, isNewSecond: boolean): boolean {
    const grown = this.#saved + (passedMs / WINDOW_MS) * this.#perSecondMax * CATCH_UP_SHARE;
    const savedMax = this.#perSecondMax * CATCH_UP_SECONDS_MAX;
    const saved = Math.min(grown, savedMax) - amount;
    this.#saved = Math.max(0, saved);
    this.#spent = (isNewSecond ? 0 : this.#spent) + amount;
    return this.#spent <= this.#perSecondMax || saved >= 0;
  }
}
