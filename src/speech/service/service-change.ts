// A call goes on with another service because of a fault that may pass, in the call itself or in others before it: the
// caller notices a pause at most, and the owner of the call must be able to see it. Faults that last are reported by themselves.

import type { GatewayError } from '../../errors/gateway-error.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import { ServiceFault, type ServiceJob } from './service-fault.ts';

interface Named {
  name: string;
  model: string;
}

export interface ServiceChange {
  job: ServiceJob;
  fault: GatewayError;
  from: Named;
  to: Named;
}

/** Undefined where the fault lasts, or the service is the same. */
export function serviceChange(
  job: ServiceJob,
  fault: GatewayError,
  { from, to }: { from: Named; to: Named },
): ServiceChange | undefined {
  if (from === to || (fault instanceof ServiceFault && fault.isPermanent)) return undefined;
  const named = ({ name, model }: Named): Named => ({ name, model });
  return { job, fault, from: named(from), to: named(to) };
}

/** A call passes a service by whose circuit is open. Undefined if it is not, or where the fault lasts. Nothing of the calls
 *  in which it failed is in the report. */
export function changeWhileOpen(
  job: ServiceJob,
  { from, to, circuit }: { from: Named; to: Named; circuit: CircuitBreaker },
): ServiceChange | undefined {
  const kind = circuit.restsAfter;
  if (kind === undefined) return undefined;
  const detail = 'it failed in other calls, and rests';
  return serviceChange(job, new ServiceFault(job, from.name, kind, { detail }), { from, to });
}
