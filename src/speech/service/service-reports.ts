// Reports of one call's services to its owner: permanent faults, changes because of temporary faults, and services that
// the call skips because they failed in other calls (open circuit). Each service is reported as skipped once.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { CircuitBreaker } from './service-circuit-breaker.ts';
import { ServiceFault, type ServiceJob } from './service-fault.ts';

interface ServiceReportsListener {
  onPermanentFault?: ((fault: ServiceFault) => void) | undefined;
  onChanged?: ((change: ServiceChange) => void) | undefined;
}

/** A service that is skipped because its circuit is open. */
interface Passed {
  circuit: CircuitBreaker;
  service: Named;
}

const DETAIL = 'not used: it failed in other calls a short time ago, and its circuit is open';

export class ServiceReports {
  readonly #listener: ServiceReportsListener;
  /** Permanent faults that the run has already. */
  readonly #faults = new Set<ServiceFault>();
  /** Services that the run names as left or skipped. */
  readonly #left = new Set<string>();

  constructor(listener: ServiceReportsListener) {
    this.#listener = listener;
  }

  /** Marks the permanent faults of earlier calls as reported: the call's plan contains them. */
  planned(services: readonly { circuit: CircuitBreaker }[]): void {
    for (const { circuit } of services) {
      if (circuit.permanentFault !== undefined) this.#faults.add(circuit.permanentFault);
    }
  }

  readonly permanent = (fault: ServiceFault): void => {
    this.#faults.add(fault);
    this.#listener.onPermanentFault?.(fault);
  };

  readonly changed = (change: ServiceChange): void => {
    this.#left.add(keyOf(change.job, change.from));
    this.#listener.onChanged?.(change);
  };

  /** Reports that the call uses `to` and skipped others. `passed`: in order of preference. Only the first one with a
   *  temporary fault is reported. */
  passedBy(job: ServiceJob, passed: readonly Passed[], to: Named): void {
    const isNew = passed.filter(({ service }) => !this.#left.has(keyOf(job, service)));
    this.known(job, isNew);
    for (const { circuit } of isNew) {
      const fault = circuit.permanentFault;
      if (fault !== undefined && !this.#faults.has(fault)) this.permanent(fault);
    }
    const first = isNew.find(({ circuit }) => circuit.permanentFault === undefined);
    if (first === undefined) return;
    const { circuit, service: from } = first;
    const kind = circuit.lastFault?.kind ?? 'overload';
    // The text of the other call's fault may quote that call.
    const fault = new ServiceFault(job, from.name, kind, { detail: DETAIL });
    const change = serviceChange(job, fault, { from, to });
    if (change !== undefined) this.changed({ ...change, isPassed: true });
  }

  /** Marks services as reported: another report explains why the call uses none of them. */
  known(job: ServiceJob, passed: readonly Passed[]): void {
    for (const { service } of passed) this.#left.add(keyOf(job, service));
  }
}

function keyOf(job: ServiceJob, { name, model }: Named): string {
  return JSON.stringify([job, name, model]);
}

interface Named {
  name: string;
  model: string;
}

/** A call uses another service because of a temporary fault. The caller notices a pause at most, but the owner of
 *  the call must be able to see it. */
export interface ServiceChange {
  job: ServiceJob;
  fault: GatewayError;
  from: Named;
  to: Named;
  /** Set if the fault was met by other calls: this call skipped `from` because its circuit is open. */
  isPassed?: true;
}

/** Returns undefined if the fault is permanent or the service is the same. */
export function serviceChange(
  job: ServiceJob,
  fault: GatewayError,
  { from, to }: { from: Named; to: Named },
): ServiceChange | undefined {
  if (from === to || (fault instanceof ServiceFault && fault.isPermanent)) return undefined;
  const named = ({ name, model }: Named): Named => ({ name, model });
  return { job, fault, from: named(from), to: named(to) };
}
