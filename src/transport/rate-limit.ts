// Rate limit of media messages: a number in each second, plus what was due in real time but did not arrive. A backlog
// after a delay in this process, the network or the far end is not a flood.

import type { Clock } from '../std/clock.ts';

const WINDOW_MS = 1_000;
/** Share of the rate by which the allowance for a backlog grows. Packets of 10 ms need less. */
const CATCH_UP_SHARE = 0.5;
/** Largest backlog, in seconds of the rate: two minutes of 20 ms packets at 500 a second, 72 s at RTP's rate. */
const CATCH_UP_SECONDS_MAX = 12;

export interface RateLimit {
  messagesPerSecondMax: number;
  bytesPerSecondMax: number;
}

export class RateLimiter {
  readonly #clock: Clock;
  readonly #messages: Budget;
  readonly #bytes: Budget;
  /** Times of the current second and of the last message. Before the first message there is no backlog. */
  #startMs = Number.NaN;
  #lastMs = Number.NaN;

  constructor(clock: Clock, rate: RateLimit) {
    this.#clock = clock;
    this.#messages = new Budget(rate.messagesPerSecondMax);
    this.#bytes = new Budget(rate.bytesPerSecondMax);
  }

  /** Counts one message. Returns false if the limit is exceeded. */
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
  /** Amount spent in the current second. */
  #spent = 0;
  /** Amount that was due in real time but did not arrive. */
  #saved = 0;

  constructor(perSecondMax: number) {
    this.#perSecondMax = perSecondMax;
  }

  /** Spends an amount. Returns whether there is enough. `passedMs`: time since the last amount. */
  spend(amount: number, passedMs: number, isNewSecond: boolean): boolean {
    const grown = this.#saved + (passedMs / WINDOW_MS) * this.#perSecondMax * CATCH_UP_SHARE;
    const savedMax = this.#perSecondMax * CATCH_UP_SECONDS_MAX;
    const saved = Math.min(grown, savedMax) - amount;
    this.#saved = Math.max(0, saved);
    this.#spent = (isNewSecond ? 0 : this.#spent) + amount;
    return this.#spent <= this.#perSecondMax || saved >= 0;
  }
}
