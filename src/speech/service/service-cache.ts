// Services by their settings: calls with the same settings share one client with its connections, and one circuit
// breaker.

import { createHash } from 'node:crypto';
import type { Clock } from '../../std/clock.ts';
import { CircuitBreaker } from './circuit-breaker.ts';

export interface CachedService<Service> {
  service: Service;
  circuit: CircuitBreaker;
}

/** Services of one job and process. The one that was not planned for longest is dropped first; calls that use it go on,
 *  and its idle connections close by themselves. */
const SERVICES_MAX = 500;

export class ServiceCache<Service> {
  readonly #clock: Clock;
  /** By a hash of the settings, which have keys in them; the one that was used last is the last. */
  readonly #services = new Map<string, CachedService<Service>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `name` is that of the service in metrics; `open` is called for settings that are new. */
  of(settings: object, name: string, open: () => Service): CachedService<Service> {
    const key = createHash('sha256').update(JSON.stringify(settings)).digest('base64');
    const found = this.#services.get(key) ?? {
      service: open(),
      circuit: new CircuitBreaker({ clock: this.#clock, service: name }),
    };
    this.#services.delete(key);
    this.#services.set(key, found);
    for (const oldest of this.#services.keys()) {
      if (this.#services.size <= SERVICES_MAX) break;
      this.#services.delete(oldest);
    }
    return found;
  }

  /** Every service that is still here. */
  all(): Service[] {
    return [...this.#services.values()].map(({ service }) => service);
  }
}
