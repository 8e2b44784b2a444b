// Rate limit of invalid keys and of requests that ask others: attempts are counted by a name (a client) within a window
// that begins with the first. In memory, per process; a restart resets it. Log-ins are counted in the store.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

/** Names that are kept. Beyond, the oldest is removed: filling this takes that many clients. */
const NAMES_MAX = 10_000;

interface Counted {
  attempts: number;
  endsAt: number;
}

export interface AttemptAllowance {
  attemptsMax: number;
  windowMs: number;
}

export class FailureLimiter {
  readonly #clock: Clock;
  readonly #allowance: AttemptAllowance;
  readonly #names = new Map<string, Counted>();

  constructor(clock: Clock, allowance: AttemptAllowance) {
    this.#clock = clock;
    this.#allowance = allowance;
  }

  /** Counts an attempt before its result is known, so that concurrent attempts do not exceed the limit. Throws
   *  TOO_MANY_ATTEMPTS. */
  count(name: string): void {
    const now = this.#clock.monotonicMs();
    const counted = this.#current(name, now);
    if (counted.attempts >= this.#allowance.attemptsMax) {
      const retryAfterS = Math.ceil((counted.endsAt - now) / 1_000);
      throw new GatewayError('TOO_MANY_ATTEMPTS', { retryAfterS });
    }
    counted.attempts += 1;
  }

  /** Removes a counted attempt that did not fail. */
  uncount(name: string): void {
    const counted = this.#names.get(name);
    if (counted !== undefined && counted.attempts > 0) counted.attempts -= 1;
  }

  /** Resets the count of a name. */
  reset(name: string): void {
    this.#names.delete(name);
  }

  #current(name: string, now: number): Counted {
    const counted = this.#names.get(name);
    if (counted !== undefined && counted.endsAt > now) return counted;
    this.#names.delete(name);
    const [oldest] = this.#names.keys();
    if (this.#names.size >= NAMES_MAX && oldest !== undefined) this.#names.delete(oldest);
    const fresh = { attempts: 0, endsAt: now + this.#allowance.windowMs };
    this.#names.set(name, fresh);
    return fresh;
  }
}
