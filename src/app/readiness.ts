// Readiness of a gateway, for load balancers and orchestrators: reasons why it should get no new calls. The database is
// probed at intervals, so that a short restart of it takes no gateway out of service.

import type { Clock, Timer } from '../std/clock.ts';

export type NotReady = 'starting' | 'draining' | 'overloaded' | 'database';

const PROBE_MS = 5_000;
/** Outage of the database that does not count: restarts are shorter, and calls go on meanwhile. */
const DATABASE_AWAY_MS_MAX = 30_000;

export interface ReadinessDeps {
  clock: Clock;
  /** Whether the database answers. Never rejects, and has its own deadline. */
  isDatabaseThere: () => Promise<boolean>;
  /** `isThere`: whether a process with calls is running; `takesCalls`: whether one accepts a call. */
  calls: { readonly isThere: boolean; readonly takesCalls: boolean };
}

export class Readiness {
  readonly #deps: ReadinessDeps;
  #databaseSeenMs: number;
  #isAnnounced = false;
  #isDraining = false;
  #timer: Timer;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
    this.#databaseSeenMs = deps.clock.monotonicMs();
    this.#timer = deps.clock.after(PROBE_MS, this.#probe);
  }

  /** Reasons why the gateway is not ready; empty if it is. */
  get reasons(): NotReady[] {
    const { clock, calls } = this.#deps;
    const reasons: NotReady[] = [];
    if (this.#isDraining) reasons.push('draining');
    else if (!this.#isAnnounced || !calls.isThere) reasons.push('starting');
    else if (!calls.takesCalls) reasons.push('overloaded');
    if (clock.monotonicMs() - this.#databaseSeenMs >= DATABASE_AWAY_MS_MAX)
      reasons.push('database');
    return reasons;
  }

  /** Whether the gateway has begun to stop. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Notes that the first API key is printed. The gateway is not ready before: clients need that key. */
  announced(): void {
    this.#isAnnounced = true;
  }

  /** Notes that the gateway has begun to stop; during a grace period it still serves. */
  drain(): void {
    this.#isDraining = true;
  }

  close(): void {
    this.#timer.cancel();
  }

  readonly #probe = (): void => {
    this.#timer = this.#deps.clock.after(PROBE_MS, this.#probe);
    void this.#deps.isDatabaseThere().then((isThere) => {
      if (isThere) this.#databaseSeenMs = this.#deps.clock.monotonicMs();
    });
  };
}
