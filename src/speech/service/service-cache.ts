// Cache of services by settings. Calls with the same settings share one client with its connections and one circuit
// breaker; all settings of one account share another circuit breaker.

import { createHash } from 'node:crypto';
import { accountIn } from '../../model/speech-services/service-rows.ts';
import type { Clock } from '../../std/clock.ts';
import { CircuitBreaker } from './service-circuit-breaker.ts';
import type { ServiceJob } from './service-fault.ts';

export interface CachedService<Service> {
  service: Service;
  circuit: CircuitBreaker;
}

/** Services of one job and process. The least recently planned one is dropped first. Calls that use it continue, and
 *  its idle connections close by themselves. */
const SERVICES_MAX = 500;

export class ServiceCache<Service> {
  readonly #clock: Clock;
  readonly #job: ServiceJob;
  /** Services by a hash of their settings (which contain keys), the least recently used one first. */
  readonly #services = new Map<string, CachedService<Service>>();
  /** Circuit breakers by a hash of the account. */
  readonly #accounts = new Map<string, CircuitBreaker>();

  constructor(clock: Clock, job: ServiceJob) {
    this.#clock = clock;
    this.#job = job;
  }

  /** Returns the service with these settings. `name`: service name for metrics. `open` creates a client for new
   *  settings. */
  of(settings: object, name: string, open: () => Service): CachedService<Service> {
    const key = hashOf(settings);
    const found = this.#services.get(key) ?? {
      service: open(),
      circuit: new CircuitBreaker({
        clock: this.#clock,
        job: this.#job,
        service: name,
        account: this.#account(settings, name),
      }),
    };
    keep(this.#services, key, found);
    return found;
  }

  /** Whether the service with these settings works, as far as earlier calls show. */
  isOpenToCalls(settings: object): boolean {
    const circuit =
      this.#services.get(hashOf(settings))?.circuit ??
      this.#accounts.get(hashOf(accountIn(settings)));
    return circuit?.isOpenToCalls ?? true;
  }

  #account(settings: object, service: string): CircuitBreaker {
    const key = hashOf(accountIn(settings));
    const circuit =
      this.#accounts.get(key) ??
      new CircuitBreaker({ clock: this.#clock, job: this.#job, service });
    keep(this.#accounts, key, circuit);
    return circuit;
  }

  /** Every service in the cache. */
  all(): Service[] {
    return [...this.#services.values()].map(({ service }) => service);
  }
}

function hashOf(settings: object): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}

/** Stores an entry as the newest. Drops the oldest beyond the limit. */
function keep<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= SERVICES_MAX) break;
    entries.delete(oldest);
  }
}
