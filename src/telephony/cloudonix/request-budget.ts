// The requests to one Cloudonix domain: at most ten in ten seconds, hang-ups and reads included. Requests above that wait
// their turn here; hang-ups and transfers go first, and a part of the budget is theirs alone, so that a campaign's dials
// do not hold up the end of a call. Other processes with the same domain are not counted: a request above
// the limit is answered with 429 then.
// Source: providers §5.8.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** Cloudonix' limit. */
export const REQUESTS_MAX = 10;
/** A little longer than Cloudonix' ten seconds: requests do not all take equally long to arrive. */
export const WINDOW_MS = 10_500;
/** For urgent requests alone. */
export const RESERVED_REQUESTS = 3;
/** From here on a request fails at once. */
const WAITING_MAX = 50;
/** Longest wait of a request, longer than a window: after that, the queue is too long for it. */
const WAIT_MS_MAX = 12_000;

interface Waiting {
  isUrgent: boolean;
  start: () => void;
}

export class RequestBudget {
  readonly #clock: Clock;
  readonly #requestsMax: number;
  /** Starts within the window, oldest first, monotonic milliseconds. */
  #starts: number[] = [];
  #waiting: Waiting[] = [];
  #timer: Timer | undefined;

  constructor({ clock, requestsMax = REQUESTS_MAX }: { clock: Clock; requestsMax?: number }) {
    this.#clock = clock;
    this.#requestsMax = requestsMax;
  }

  /** Nothing waits and nothing counts. */
  get isIdle(): boolean {
    this.#forget();
    return this.#starts.length === 0 && this.#waiting.length === 0;
  }

  /** Resolves when the request may be sent. Throws PROVIDER_CAPACITY if that would take too long, PROVIDER_FAILED if
   *  `signal` is aborted meanwhile: nothing was sent then. */
  claim(action: string, isUrgent: boolean, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= WAITING_MAX) return Promise.reject(exhausted(action));
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void => {
        const facts = { provider: 'cloudonix', action, reason: 'aborted' };
        done(() => reject(new GatewayError('PROVIDER_FAILED', facts, signal.reason)));
      };
      const waiting: Waiting = { isUrgent, start: () => done(resolve) };
      const timer = this.#clock.after(WAIT_MS_MAX, () => done(() => reject(exhausted(action))));
      this.#waiting.push(waiting);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      else this.#startNext();
    });
  }

  #startNext(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const waitMs = this.#waitMs(next.isUrgent);
      if (waitMs > 0) {
        this.#timer = this.#clock.after(waitMs, () => this.#startNext());
        return;
      }
      this.#starts.push(this.#clock.monotonicMs());
      next.start();
    }
  }

  #next(): Waiting | undefined {
    return this.#waiting.find(({ isUrgent }) => isUrgent) ?? this.#waiting[0];
  }

  /** Until such a request may be sent. */
  #waitMs(isUrgent: boolean): number {
    this.#forget();
    const nowMs = this.#clock.monotonicMs();
    const allowed = isUrgent ? this.#requestsMax : this.#requestsMax - RESERVED_REQUESTS;
    /** The one that must leave the window first. */
    const before = this.#starts[this.#starts.length - allowed];
    return before === undefined ? 0 : Math.max(0, before + WINDOW_MS - nowMs);
  }

  #forget(): void {
    const sinceMs = this.#clock.monotonicMs() - WINDOW_MS;
    while ((this.#starts[0] ?? Number.POSITIVE_INFINITY) <= sinceMs) this.#starts.shift();
  }
}

function exhausted(action: string): GatewayError {
  const reason = `the ${REQUESTS_MAX} requests in 10 seconds that a domain may send are used up`;
  return new GatewayError('PROVIDER_CAPACITY', { provider: 'cloudonix', action, reason });
}
