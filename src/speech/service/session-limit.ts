// The concurrency limit of a service's key: how many sessions it may have at once, as its owner has set it, or as the
// service has shown by refusing one more. All calls of a process count together; a call that finds the key at its limit
// uses its next service, and the service is not asked.

import { createHash } from 'node:crypto';
import { fullKeys, serviceFaults } from '../../metrics/speech-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { ServiceFault, type ServiceJob } from './service-fault.ts';

/** Of the limit, for connections that are opened while phones ring: many of them are not answered, and some services
 *  count connections. */
const AHEAD_SHARE = 0.2;
/** A connection that was opened ahead is closed by then. */
const AHEAD_MS_MAX = 30_000;
/** What a refusal has shown: sessions of other gateways end, and some services limit new sessions in a minute. */
const SHOWN_MS = 60_000;
/** Keys of one process. The one that was not planned for longest is dropped first. */
const KEYS_MAX = 500;

export class SessionLimit {
  /** As the owner has set it; undefined: not set. */
  configured: number | undefined;
  readonly #clock: Clock;
  #shown: { max: number; untilMs: number } | undefined;
  #open = 0;
  /** When connections were opened ahead that no session has taken, oldest first. */
  #ahead: number[] = [];

  constructor(clock: Clock, configured?: number) {
    this.#clock = clock;
    this.configured = configured;
  }

  /** Infinity if no limit is known. */
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

  /** Whether a connection may be opened, or a request made, ahead of a session; if so, it counts until a session opens,
   *  or until `endAhead`. */
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

  /** A request that was made ahead is over: it waits for no session. */
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

  /** The service has refused the session that was opened last, because of their number. */
  refused(): void {
    const untilMs = this.#clock.monotonicMs() + SHOWN_MS;
    this.#shown = { max: Math.max(1, this.#open - 1), untilMs };
  }
}

/** For the owner of the key. */
export function limitFault(job: ServiceJob, name: string, limit: SessionLimit): ServiceFault {
  serviceFaults.inc({ kind: job, service: name, fault: 'rate' });
  fullKeys.inc({ kind: job, service: name });
  const detail = `all ${limit.max} sessions of the key are in use`;
  return new ServiceFault(job, name, 'rate', { detail });
}

/** What the limits of keys are known by. */
const OF_KEY = ['provider', 'base_url', 'region', 'api_key', 'api_secret'];

/** The limits of a process, by key. */
export class SessionLimits {
  readonly #clock: Clock;
  readonly #share: number;
  readonly #limits = new Map<string, SessionLimit>();

  /** `share`: among how many processes a configured limit is divided. */
  constructor(clock: Clock, share: number) {
    this.#clock = clock;
    this.#share = share;
  }

  /** Whether every session of the key is in use. */
  isFull(settings: object): boolean {
    return this.#limits.get(keyOf(settings))?.isFull === true;
  }

  /** `limit`: as configured; the last one counts. */
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
