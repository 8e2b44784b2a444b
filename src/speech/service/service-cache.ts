// Services by their settings: calls with the same settings share one client with its connections, and one circuit
// breaker, behind which all settings of one account share another.

import { createHash } from 'node:crypto';
import { accountIn } from '../../model/speech-services/service-rows.ts';
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
  /** By a hash of the account. */
  readonly #accounts = new Map<string, CircuitBreaker>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `name` is that of the service in metrics; `open` is called for settings that are new. */
  of(settings: object, name: string, open: () => Service): CachedService<Service> {
    const key = hashOf(settings);
    const found = this.#services.get(key) ?? {
      service: open(),
      circuit: new CircuitBreaker({
        clock: this.#clock,
        service: name,
        account: this.#account(settings, name),
      }),
    };
    keep(this.#services, key, found);
    return found;
  }

  /** Whether a call may use the service with these settings, as far as earlier calls show. */
  isOpenToCalls(settings: object): boolean {
    const circuit =
      this.#services.get(hashOf(settings))?.circuit ??
      this.#accounts.get(hashOf(accountIn(settings)));
    return circuit?.isOpenToCalls ?? true;
  }

  #account(settings: object, service: string): CircuitBreaker {
    const key = hashOf(accountIn(settings));
    const circuit = this.#accounts.get(key) ?? new CircuitBreaker({ clock: this.#clock, service });
    keep(this.#accounts, key, circuit);
    return circuit;
  }

  /** Every service that is still here. */
  all(): Service[] {
    return [...this.#services.values()].map(({ service }) => service);
  }
}

function hashOf(settings: object): string {
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64');
}

/** As the last one; drops the first where there are too many. */
function keep<Value>(entries: Map<string, Value>, key: string, value: Value): void {
  entries.delete(key);
  entries.set(key, value);
  for (const oldest of entries.keys()) {
    if (entries.size <= SERVICES_MAX) break;
    entries.delete(oldest);
  }
}
