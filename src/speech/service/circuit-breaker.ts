// Circuit breakers of speech services: one for each service, address, key and model, and behind it one for each settings
// of these (voice, language), whose own faults do not concern the others. A service that failed is not tried again for a
// while, so that calls do not wait for it one by one; then one call tries it.

import { openCircuits } from '../../metrics/speech-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { FaultKind, ServiceFault } from './service-fault.ts';

/** Opens after so many transient faults in a row within the time, or one permanent fault. */
const FAULTS_MAX = 3;
const FAULTS_MS = 60_000;
/** Opens also where more than this share of the last results are faults: of a service that works now and then, callers
 *  wait in every second call. */
const RESULTS_MAX = 20;
const FAULTS_SHARE_MAX = 0.3;
/** First pause; doubled with each failed probe. */
const OPEN_MS = 15_000;
const OPEN_MS_MAX = 300_000;
/** Nothing changes by itself; a new key has a circuit of its own. */
const PERMANENT_MS = 300_000;
/** A rate limit without a wait of its own. */
const RATE_MS = 10_000;
/** A probe that reported nothing after so long counts as failed. */
const PROBE_MS_MAX = 30_000;
/** The metric drops a circuit that no call has tried for so long after its pause: its key may have been replaced. */
const UNTRIED_MS_MAX = 300_000;

/** Faults of the settings beside the account, as an unknown voice is. */
const OF_SETTINGS: ReadonlySet<FaultKind> = new Set(['request', 'forbidden']);

export type CircuitState = 'closed' | 'open' | 'half-open';

export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #service: string;
  /** Monotonic times of faults while closed, oldest first; at most `FAULTS_MAX`. */
  #faults: number[] = [];
  /** Whether each was a fault, oldest first; at most `RESULTS_MAX`. */
  #results: boolean[] = [];
  #opensUntil: number | undefined;
  #pauseMs = OPEN_MS;
  #probeSince: number | undefined;
  #permanentFault: ServiceFault | undefined;
  #lastFault: ServiceFault | undefined;
  readonly #account: CircuitBreaker | undefined;
  /** Since when a call of these settings is the account's probe. */
  #accountProbeSince: number | undefined;

  /** `account`: shared with other settings of the same account, for the faults that concern them too. */
  constructor(options: { clock: Clock; service: string; account?: CircuitBreaker }) {
    this.#clock = options.clock;
    this.#service = options.service;
    this.#account = options.account;
  }

  get state(): CircuitState {
    const own = this.#ownState;
    return own === 'closed' ? (this.#account?.state ?? own) : own;
  }

  get #ownState(): CircuitState {
    if (this.#opensUntil === undefined) return 'closed';
    return this.#clock.monotonicMs() < this.#opensUntil ? 'open' : 'half-open';
  }

  /** Why the service refuses every call, until it works again: its owner must change a key, an account or a setting. */
  get permanentFault(): ServiceFault | undefined {
    return this.#permanentFault ?? this.#account?.permanentFault;
  }

  /** Of the service, or of its account, since it worked last. Undefined: none. */
  get lastFault(): ServiceFault | undefined {
    return this.#ownState === 'closed' && this.#account !== undefined
      ? this.#account.lastFault
      : this.#lastFault;
  }

  /** Whether `admit` would let a call in. */
  get isOpenToCalls(): boolean {
    const own = this.#ownState;
    if (own === 'open' || (own === 'half-open' && this.#isProbed)) return false;
    return this.#account?.isOpenToCalls ?? true;
  }

  /** Whether a call may use the service now. After the pause, one call at a time: its result decides. */
  admit(): boolean {
    const own = this.#ownState;
    if (own === 'open' || (own === 'half-open' && this.#isProbed)) return false;
    // Last: it takes the account's probe, which a call that is refused here would leave without a result.
    const account = this.#account;
    if (account?.admit() === false) return false;
    if (account !== undefined) this.#accountProbeSince = account.#probeSince;
    if (own === 'half-open') this.#probeSince = this.#clock.monotonicMs();
    return true;
  }

  /** A call tries the service, and may still report. */
  get #isProbed(): boolean {
    if (this.#probeSince === undefined) return false;
    return this.#clock.monotonicMs() - this.#probeSince < PROBE_MS_MAX;
  }

  /** The service did its work. */
  succeeded(): void {
    this.#account?.succeeded();
    if (this.#opensUntil !== undefined && this.#probeSince === undefined) return;
    this.#note(false);
    this.#faults = [];
    this.#permanentFault = undefined;
    this.#lastFault = undefined;
    this.#opensUntil = undefined;
    this.#probeSince = undefined;
    this.#pauseMs = OPEN_MS;
    openCircuits.delete(this);
  }

  /** The call has no result that says whether the service works: if it was the probe, another one is at once. */
  abandoned(): void {
    this.#probeSince = undefined;
    this.#leaveAccountProbe();
  }

  failed(fault: ServiceFault): void {
    // The longest session is over, or one conversation is too long: no fault of the service.
    if (fault.kind === 'session' || fault.kind === 'context') {
      this.abandoned();
      return;
    }
    if (this.#account !== undefined && !OF_SETTINGS.has(fault.kind)) {
      this.#account.failed(fault);
      return;
    }
    this.#leaveAccountProbe();
    this.#lastFault = fault;
    const now = this.#clock.monotonicMs();
    if (fault.isPermanent) {
      this.#permanentFault = fault;
      this.#open(now + PERMANENT_MS);
    } else if (fault.kind === 'rate') this.#open(now + (fault.retryAfterMs ?? RATE_MS));
    else if (this.#opensUntil !== undefined) this.#probeFailed(now);
    else {
      this.#faults = [...this.#faults.filter((at) => now - at < FAULTS_MS), now];
      this.#note(true);
      if (this.#faults.length >= FAULTS_MAX || this.#isOftenAtFault) {
        this.#open(now + this.#pauseMs);
      }
    }
  }

  /** The call has ended with what says nothing of the account: if it was its probe, another call is at once. */
  #leaveAccountProbe(): void {
    const account = this.#account;
    const since = this.#accountProbeSince;
    this.#accountProbeSince = undefined;
    if (account !== undefined && since !== undefined && account.#probeSince === since) {
      account.#probeSince = undefined;
    }
  }

  #note(isFault: boolean): void {
    this.#results.push(isFault);
    if (this.#results.length > RESULTS_MAX) this.#results.shift();
  }

  get #isOftenAtFault(): boolean {
    const results = this.#results;
    const faults = results.filter((isFault) => isFault).length;
    return results.length >= RESULTS_MAX && faults > RESULTS_MAX * FAULTS_SHARE_MAX;
  }

  #probeFailed(now: number): void {
    if (this.#probeSince === undefined) return;
    this.#pauseMs = Math.min(OPEN_MS_MAX, this.#pauseMs * 2);
    this.#open(now + this.#pauseMs);
  }

  /** A fault of a call that began before never shortens the pause. */
  #open(untilMs: number): void {
    this.#opensUntil = Math.max(untilMs, this.#opensUntil ?? 0);
    this.#probeSince = undefined;
    this.#faults = [];
    this.#results = [];
    // Other accounts of the service have circuits of their own.
    const dropAt = this.#opensUntil + UNTRIED_MS_MAX;
    openCircuits.add(this, this.#service, () => this.#clock.monotonicMs() < dropAt);
  }
}
