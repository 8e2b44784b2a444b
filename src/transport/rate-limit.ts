// Rate limit of media messages: real time with room for a network that catches up. The backlog of a stall of this
// process, or of a time in which it did not read the connection, is allowed on top, as much as that time may bring.

import type { Clock } from '../std/clock.ts';

const WINDOW_MS = 1_000;
/** Of a stall: the kernel's receive buffer holds less. */
const EXCUSED_MS_MAX = 60_000;
/** Time in which a backlog is read. */
const BACKLOG_MS_MAX = 5_000;

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
  /** The rest of the allowance for a backlog, and when it ends. */
  #excusedMessages = 0;
  #excusedBytes = 0;
  #excusedUntilMs = 0;
  /** The last stall of the process is identified by its end. */
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

  /** The process did not read the connection for `ms` until now. */
  excuse(ms: number): void {
    this.#allowBacklog(ms, this.#clock.monotonicMs());
  }

  #isExcused(bytes: number): boolean {
    const stall = this.#clock.lastStall();
    if (stall !== undefined && stall.endMs !== this.#stallEndMs) {
      this.#stallEndMs = stall.endMs;
      this.#allowBacklog(stall.ms, stall.endMs);
    }
    if (this.#clock.monotonicMs() > this.#excusedUntilMs) return false;
    this.#excusedMessages -= 1;
    this.#excusedBytes -= bytes;
    return this.#excusedMessages >= 0 && this.#excusedBytes >= 0;
  }

  #allowBacklog(unreadMs: number, endMs: number): void {
    // Only the time since the connection was opened counts.
    const ms = Math.min(unreadMs, endMs - this.#sinceMs, EXCUSED_MS_MAX);
    this.#excusedMessages = (ms / WINDOW_MS) * this.#rate.messagesPerSecondMax;
    this.#excusedBytes = (ms / WINDOW_MS) * this.#rate.bytesPerSecondMax;
    this.#excusedUntilMs = endMs + BACKLOG_MS_MAX;
  }
}
