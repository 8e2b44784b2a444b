// Rate limit of media messages: real time with room for a network that catches up. The backlog of a stall of this
// process is allowed on top, as much as that time may bring.

import type { Clock } from '../std/clock.ts';

const WINDOW_MS = 1_000;
/** Of a stall: the kernel's receive buffer holds less. */
const EXCUSED_MS_MAX = 60_000;

export interface RateLimit {
  messagesPerSecondMax: number;
  bytesPerSecondMax: number;
}

export class RateLimiter {
  readonly #clock: Clock;
  readonly #rate: RateLimit;
  readonly #sinceMs: number;
  #startMs: number;
  #messages = 0;
  #bytes = 0;
  /** The rest of the allowance for the last stall, which is identified by its end. */
  #excusedMessages = 0;
  #excusedBytes = 0;
  #stallEndMs = Number.NaN;

  constructor(clock: Clock, rate: RateLimit) {
    this.#clock = clock;
    this.#rate = rate;
    this.#sinceMs = clock.monotonicMs();
    this.#startMs = this.#sinceMs;
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
    if (this.#messages <= messagesPerSecondMax && this.#bytes <= bytesPerSecondMax) return true;
    return this.#isExcused(bytes);
  }

  #isExcused(bytes: number): boolean {
    const stall = this.#clock.lastStall();
    if (stall === undefined) return false;
    if (stall.endMs !== this.#stallEndMs) {
      this.#stallEndMs = stall.endMs;
      // Only the time since the connection was opened counts.
      const ms = Math.min(stall.ms, stall.endMs - this.#sinceMs, EXCUSED_MS_MAX);
      this.#excusedMessages = (ms / WINDOW_MS) * this.#rate.messagesPerSecondMax;
      this.#excusedBytes = (ms / WINDOW_MS) * this.#rate.bytesPerSecondMax;
    }
    this.#excusedMessages -= 1;
    this.#excusedBytes -= bytes;
    return this.#excusedMessages >= 0 && this.#excusedBytes >= 0;
  }
}
