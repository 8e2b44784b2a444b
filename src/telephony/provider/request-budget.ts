// Request budgets by account: a number of requests in a time window, and none while the provider requests a pause.
// Further requests queue. Urgent ones have a share of the budget and a queue of their own, and wait only for pauses
// that an urgent request received, so that a campaign's dials do not delay a hang-up. Other processes with the same
// account are not counted: the provider answers 429 then. Idle budgets are removed when there are too many.

import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { Clock, Timer } from '../../std/clock.ts';

/** Queue length from which a request fails at once: more than start within the longest wait, for all providers. */
const WAITING_MAX = 1_000;
/** Longest wait of a request, longer than any window: after that, the queue is too long for it. */
const WAIT_MS_MAX = 12_000;
/** Longest pause of urgent requests: a hang-up is given up after five seconds. */
const URGENT_PAUSE_MS_MAX = 3_000;

/** An account's limit, as the provider documents it. */
export interface RequestLimit {
  requestsMax: number;
  windowMs: number;
  /** Requests of `requestsMax` that only urgent ones may use. */
  reserved: number;
  /** Queue length from which a request fails at once; urgent requests are counted apart. Default: 1,000. */
  waitingMax?: number;
  /** Text for the error: `the 10 requests in 10 seconds that a domain may send`. */
  words: string;
}

interface Waiting {
  isUrgent: boolean;
  start: () => void;
}

export class RequestBudget {
  readonly #clock: Clock;
  readonly #provider: ProviderName;
  /** Undefined if the provider documents no limit. */
  readonly #limit: RequestLimit | undefined;
  /** Start times of requests within the window, oldest first, in monotonic milliseconds. */
  #starts: number[] = [];
  #waiting: Waiting[] = [];
  #pausedUntilMs = 0;
  /** End of the pause of urgent requests, in monotonic milliseconds. */
  #urgentPausedUntilMs = 0;
  #timer: Timer | undefined;

  constructor(options: {
    clock: Clock;
    provider: ProviderName;
    limit: RequestLimit | undefined;
  }) {
    this.#clock = options.clock;
    this.#provider = options.provider;
    this.#limit = options.limit;
  }

  /** Whether nothing waits, and no request or pause counts. */
  get isIdle(): boolean {
    this.#forget();
    const isPaused = this.#pausedUntilMs > this.#clock.monotonicMs();
    return this.#starts.length === 0 && this.#waiting.length === 0 && !isPaused;
  }

  /** The provider has refused a request and requested a pause of `ms`. No request starts meanwhile, except urgent ones
   *  if the refused one was not urgent. */
  pause(ms: number, isUrgent: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + ms);
    if (!isUrgent) return;
    const untilMs = nowMs + Math.min(ms, URGENT_PAUSE_MS_MAX);
    this.#urgentPausedUntilMs = Math.max(this.#urgentPausedUntilMs, untilMs);
  }

  /** Resolves when the request may be sent. Throws PROVIDER_CAPACITY if that would take too long, PROVIDER_FAILED if
   *  `signal` is aborted meanwhile: nothing was sent then. */
  claim(action: string, isUrgent: boolean, signal: AbortSignal): Promise<void> {
    const before = this.#waiting.filter((each) => each.isUrgent === isUrgent);
    if (before.length >= (this.#limit?.waitingMax ?? WAITING_MAX))
      return Promise.reject(this.#exhausted(action));
    return new Promise((resolve, reject) => {
      const done = (settle: () => void): void => {
        this.#waiting = this.#waiting.filter((each) => each !== waiting);
        timer.cancel();
        signal.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void => {
        const facts = { provider: this.#provider, action, reason: 'aborted' };
        done(() => reject(new GatewayError('PROVIDER_FAILED', facts, signal.reason)));
      };
      const waiting: Waiting = { isUrgent, start: () => done(resolve) };
      const timer = this.#clock.after(WAIT_MS_MAX, () =>
        done(() => reject(this.#exhausted(action))),
      );
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
      if (this.#limit !== undefined) this.#starts.push(this.#clock.monotonicMs());
      next.start();
    }
  }

  #next(): Waiting | undefined {
    return this.#waiting.find(({ isUrgent }) => isUrgent) ?? this.#waiting[0];
  }

  /** Milliseconds until such a request may be sent. */
  #waitMs(isUrgent: boolean): number {
    this.#forget();
    const nowMs = this.#clock.monotonicMs();
    const pausedUntilMs = isUrgent ? this.#urgentPausedUntilMs : this.#pausedUntilMs;
    const pauseMs = Math.max(0, pausedUntilMs - nowMs);
    if (this.#limit === undefined) return pauseMs;
    const { requestsMax, reserved, windowMs } = this.#limit;
    const allowed = isUrgent ? requestsMax : requestsMax - reserved;
    /** Start of the request that must leave the window first. */
    const before = this.#starts[this.#starts.length - allowed];
    return before === undefined ? pauseMs : Math.max(pauseMs, before + windowMs - nowMs);
  }

  #forget(): void {
    const sinceMs = this.#clock.monotonicMs() - (this.#limit?.windowMs ?? 0);
    while ((this.#starts[0] ?? Number.POSITIVE_INFINITY) <= sinceMs) this.#starts.shift();
  }

  #exhausted(action: string): GatewayError {
    const words = this.#limit?.words ?? 'the requests that an account may send now';
    const reason = `${words} are used up`;
    return new GatewayError('PROVIDER_CAPACITY', { provider: this.#provider, action, reason });
  }
}

/** Accounts whose budget is kept in memory. */
const BUDGETS_MAX = 1_000;

/** Key of an account's budget. `address`: the account at its provider, which others may know. The key includes a hash
 *  of the secret, so a sender without it does not use up the owner's budget. */
export function accountKey(address: string, secret: string): string {
  return `${address} ${createHash('sha256').update(secret).digest('hex')}`;
}

export class AccountBudgets {
  readonly #create: () => RequestBudget;
  readonly #budgets = new Map<string, RequestBudget>();

  constructor(create: () => RequestBudget) {
    this.#create = create;
  }

  of(account: string): RequestBudget {
    const known = this.#budgets.get(account);
    if (known !== undefined) return known;
    if (this.#budgets.size >= BUDGETS_MAX) {
      for (const [key, budget] of this.#budgets) if (budget.isIdle) this.#budgets.delete(key);
    }
    const budget = this.#create();
    this.#budgets.set(account, budget);
    return budget;
  }
}
