// Concurrency limit of a service's key: the number of sessions it may have at once, as set by its owner or as learned
// from a refusal. All calls of a process count together. A call that finds the key at its limit uses its next service
// without a request.

import { createHash } from 'node:crypto';
import { fullKeys, serviceFaults } from '../../metrics/speech-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { ServiceFault, type ServiceJob } from './service-fault.ts';

/** Share of the limit for connections that are opened while phones ring. Many are never answered, and some services
 *  count connections. */
const AHEAD_SHARE = 0.2;
/** Time after which a connection that was opened ahead is closed. */
const AHEAD_MS_MAX = 30_000;
/** Duration of a limit that was learned from a refusal. Sessions of other gateways end, and some services limit new
 *  sessions per minute. */
const SHOWN_MS = 60_000;
/** Keys of one process. The least recently planned one is dropped first. */
const KEYS_MAX = 500;

export class SessionLimit {
  /** Limit that the owner has set. Undefined: not set. */
  configured: number | undefined;
  readonly #clock: Clock;
  #shown: { max: number; untilMs: number } | undefined;
  #open = 0;
  /** Times of connections that were opened ahead and that no session has taken, oldest first. */
  #ahead: number[] = [];

  constructor(clock: Clock, configured?: number) {
    this.#clock = clock;
    this.configured = configured;
  }

  /** Current limit. Infinity if none is known. */
  get max(): number {
    const { untilMs = 0, max = Number.POSITIVE_INFINITY } = this.#shown ?? {};
    const shown = this.#clock.monotonicMs() < untilMs ? max : Number.POSITIVE_INFINITY;
    return Math.min(shown, this.configured ?? Number.POSITIVE_INFINITY);
  }

  get isFull(): boolean {
    return this.#open >= this.max;
  }

  get isIdle(): boolean {
    return this.#open === 0;
  }

  /** Whether a connection or request ahead of a session is allowed. If so, it counts until a session opens or until
   *  `endAhead`. */
  admitAhead(): boolean {
    const { max } = this;
    if (max === Number.POSITIVE_INFINITY) return true;
    const now = this.#clock.monotonicMs();
    this.#ahead = this.#ahead.filter((at) => now - at < AHEAD_MS_MAX);
    const aheadMax = Math.max(1, Math.floor(max * AHEAD_SHARE));
    if (this.#ahead.length >= aheadMax || this.#open + this.#ahead.length >= max) return false;
    this.#ahead.push(now);
    return true;
  }

  /** Ends a request that was made ahead: no session will take it. */
  endAhead(): void {
    this.#ahead.shift();
  }

  opened(): void {
    this.#open += 1;
    this.#ahead.shift();
  }

  closed(): void {
    this.#open -= 1;
  }

  /** Records that the service refused the last session because of too many sessions. */
  refused(): void {
    const untilMs = this.#clock.monotonicMs() + SHOWN_MS;
    this.#shown = { max: Math.max(1, this.#open - 1), untilMs };
  }
}

/** Fault for the owner of the key. */
export function limitFault(job: ServiceJob, name: string, limit: SessionLimit): ServiceFault {
  serviceFaults.inc({ kind: job, service: name, fault: 'rate' });
  fullKeys.inc({ kind: job, service: name });
  const detail = `all ${limit.max} sessions of the key are in use`;
  return new ServiceFault(job, name, 'rate', { detail });
}

/** Settings that identify a key. */
const OF_KEY = ['provider', 'base_url', 'region', 'api_key', 'api_secret'];

/** Limits of a process, by key. */
export class SessionLimits {
  readonly #clock: Clock;
  readonly #share: number;
  readonly #limits = new Map<string, SessionLimit>();

  /** `share`: number of processes among which a configured limit is divided. */
  constructor(clock: Clock, share: number) {
    this.#clock = clock;
    this.#share = share;
  }

  /** Whether every session of the key is in use. */
  isFull(settings: object): boolean {
    return this.#limits.get(keyOf(settings))?.isFull === true;
  }

  /** Limit of a key. `limit`: the configured value; the latest call's value applies. */
  of(settings: object, limit: number | undefined): SessionLimit {
    const key = keyOf(settings);
    const found = this.#limits.get(key) ?? new SessionLimit(this.#clock);
    found.configured =
      limit === undefined ? undefined : Math.max(1, Math.floor(limit / this.#share));
    this.#limits.delete(key);
    this.#limits.set(key, found);
    this.#drop();
    return found;
  }

  #drop(): void {
    for (const [key, limit] of this.#limits) {
      if (this.#limits.size <= KEYS_MAX) return;
      if (limit.isIdle) this.#limits.delete(key);
    }
  }
}

function keyOf(settings: object): string {
  const named = Object.entries(settings).filter(([name]) => OF_KEY.includes(name));
  return createHash('sha256').update(JSON.stringify(named.sort())).digest('base64');
}
