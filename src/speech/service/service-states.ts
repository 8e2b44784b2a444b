// What the calls of this process found at each speech and model service, over all accounts. The circuit breakers note it.

import type { ServiceNotes } from '../../model/service-state.ts';
import type { ServiceJob } from './service-fault.ts';

interface Named {
  job: ServiceJob;
  service: string;
}

interface OpenCircuit extends Named {
  sinceMs: number;
  /** Whether it still counts: a circuit that no call probes is dropped. */
  counts(): boolean;
}

export class ServiceStates {
  /** One entry for each job and service that this version knows. */
  readonly #results = new Map<string, Pick<ServiceNotes, 'lastFault' | 'lastSuccessMs'>>();
  readonly #open = new Map<object, OpenCircuit>();

  /** `nowMs`: since 1970. */
  succeeded(named: Named, nowMs: number): void {
    this.#of(named).lastSuccessMs = nowMs;
  }

  failed(named: Named, { kind, atMs }: { kind: string; atMs: number }): void {
    this.#of(named).lastFault = { kind, atMs };
  }

  /** Notes an open circuit; one that is noted already keeps its beginning. */
  opened(circuit: object, open: OpenCircuit): void {
    this.#dropOld();
    const sinceMs = this.#open.get(circuit)?.sinceMs ?? open.sinceMs;
    this.#open.set(circuit, { ...open, sinceMs });
  }

  closed(circuit: object): void {
    this.#open.delete(circuit);
  }

  get all(): ServiceNotes[] {
    this.#dropOld();
    return [...this.#results].map(([key, results]) => {
      const [job, service] = namedBy(key);
      const open = [...this.#open.values()].filter(
        (each) => each.job === job && each.service === service,
      );
      const openSinceMs =
        open.length === 0 ? null : Math.min(...open.map(({ sinceMs }) => sinceMs));
      return { job, service, openCircuits: open.length, openSinceMs, ...results };
    });
  }

  #of({ job, service }: Named): Pick<ServiceNotes, 'lastFault' | 'lastSuccessMs'> {
    const key = `${job} ${service}`;
    const results = this.#results.get(key) ?? { lastFault: null, lastSuccessMs: null };
    this.#results.set(key, results);
    return results;
  }

  #dropOld(): void {
    for (const [circuit, { counts }] of this.#open) if (!counts()) this.#open.delete(circuit);
  }
}

/** Job and service of a key that `#of` made. */
function namedBy(key: string): [ServiceJob, string] {
  const [job = '', ...service] = key.split(' ');
  return [job as ServiceJob, service.join(' ')];
}

/** Those of this process. */
export const serviceStates = new ServiceStates();
