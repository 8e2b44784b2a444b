// Circuit breakers of speech services: one for each service, address, key and model (account), and below it one for
// each set of further settings (voice, language), whose faults do not concern the others. A failed service is skipped
// for a while, so that calls do not wait for it one by one; then one call probes it.

import { openCircuits } from '../../metrics/speech-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { FaultKind, ServiceFault, ServiceJob } from './service-fault.ts';
import { serviceStates } from './service-states.ts';

/** Opens after this many transient faults in a row within the time, or after one permanent fault. */
const FAULTS_MAX = 3;
const FAULTS_MS = 60_000;
/** Opens also if more than this share of the last results are faults: with an unreliable service every second call
 *  would wait. */
const RESULTS_MAX = 20;
const FAULTS_SHARE_MAX = 0.3;
/** First pause. Each failed probe doubles it. */
const OPEN_MS = 15_000;
const OPEN_MS_MAX = 300_000;
/** Pause after a permanent fault. Nothing changes by itself; a new key has a circuit of its own. */
const PERMANENT_MS = 300_000;
/** Pause after a rate limit without Retry-After. */
const RATE_MS = 10_000;
/** A probe without a result after this time counts as failed. */
const PROBE_MS_MAX = 30_000;
/** Time after the pause at which the metric drops a circuit that no call has probed: its key may have been replaced. */
const UNTRIED_MS_MAX = 300_000;

/** Faults of the settings and not of the account, such as an unknown voice. */
const OF_SETTINGS: ReadonlySet<FaultKind> = new Set(['request', 'forbidden']);

export type CircuitState = 'closed' | 'open' | 'half-open';

export class CircuitBreaker {
  readonly #clock: Clock;
  readonly #job: ServiceJob;
  readonly #service: string;
  /** Monotonic times of the faults since the circuit closed, oldest first; at most `FAULTS_MAX`. */
  #faults: number[] = [];
  /** The last results, true for a fault, oldest first; at most `RESULTS_MAX`. */
  #results: boolean[] = [];
  #opensUntil: number | undefined;
  #pauseMs = OPEN_MS;
  #probeSince: number | undefined;
  #permanentFault: ServiceFault | undefined;
  #lastFault: ServiceFault | undefined;
  readonly #account: CircuitBreaker | undefined;
  /** Time since which a call with these settings is the account's probe. */
  #accountProbeSince: number | undefined;

  /** `account`: circuit shared with other settings of the same account, for faults that concern them too. */
  constructor(options: {
    clock: Clock;
    job: ServiceJob;
    service: string;
    account?: CircuitBreaker;
  }) {
    this.#clock = options.clock;
    this.#job = options.job;
    this.#service = options.service;
    this.#account = options.account;
  }

  get #named(): { job: ServiceJob; service: string } {
    return { job: this.#job, service: this.#service };
  }

  get state(): CircuitState {
    const own = this.#ownState;
    return own === 'closed' ? (this.#account?.state ?? own) : own;
  }

  get #ownState(): CircuitState {
    if (this.#opensUntil === undefined) return 'closed';
    return this.#clock.monotonicMs() < this.#opensUntil ? 'open' : 'half-open';
  }

  /** The fault for which the service refuses every call, until it works again: its owner must change a key, an account
   *  or a setting. */
  get permanentFault(): ServiceFault | undefined {
    return this.#permanentFault ?? this.#account?.permanentFault;
  }

  /** The last fault of the service or its account since it last worked. Undefined: none. */
  get lastFault(): ServiceFault | undefined {
    return this.#ownState === 'closed' && this.#account !== undefined
      ? this.#account.lastFault
      : this.#lastFault;
  }

  /** Whether `admit` would admit a call. */
  get isOpenToCalls(): boolean {
    const own = this.#ownState;
    if (own === 'open' || (own === 'half-open' && this.#isProbed)) return false;
    return this.#account?.isOpenToCalls ?? true;
  }

  /** Whether a call may use the service. After a pause it admits one call at a time as a probe, whose result
   *  decides. */
  admit(): boolean {
    const own = this.#ownState;
    if (own === 'open' || (own === 'half-open' && this.#isProbed)) return false;
    // Checked last: it takes the account's probe, which a refused call would leave without a result.
    const account = this.#account;
    if (account?.admit() === false) return false;
    if (account !== undefined) this.#accountProbeSince = account.#probeSince;
    if (own === 'half-open') this.#probeSince = this.#clock.monotonicMs();
    return true;
  }

  /** Whether a call probes the service and may still report a result. */
  get #isProbed(): boolean {
    if (this.#probeSince === undefined) return false;
    return this.#clock.monotonicMs() - this.#probeSince < PROBE_MS_MAX;
  }

  /** Records a success: closes the circuit. */
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
    serviceStates.closed(this);
    serviceStates.succeeded(this.#named, this.#clock.now());
  }

  /** Records that a call ended without a result. If it was the probe, the next call becomes one at once. */
  abandoned(): void {
    this.#probeSince = undefined;
    this.#leaveAccountProbe();
  }

  failed(fault: ServiceFault): void {
    // Neither a session's maximum length nor a too long conversation is a fault of the service.
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
    serviceStates.failed(this.#named, { kind: fault.kind, atMs: this.#clock.now() });
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

  /** Releases the account's probe after a result that does not concern the account, so that the next call becomes
   *  one. */
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

  /** Opens the circuit. A fault of an earlier call never shortens the pause. */
  #open(untilMs: number): void {
    this.#opensUntil = Math.max(untilMs, this.#opensUntil ?? 0);
    this.#probeSince = undefined;
    this.#faults = [];
    this.#results = [];
    // Other accounts of the service have their own circuits.
    const dropAt = this.#opensUntil + UNTRIED_MS_MAX;
    const counts = () => this.#clock.monotonicMs() < dropAt;
    openCircuits.add(this, this.#service, counts);
    serviceStates.opened(this, { ...this.#named, sinceMs: this.#clock.now(), counts });
  }
}
