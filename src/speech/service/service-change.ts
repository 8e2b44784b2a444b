// A call goes on, or begins, with another service because of a fault that may pass: the caller notices a pause at most, and the owner of
// the call must be able to see it. Faults that last are reported by themselves.

import type { GatewayError } from '../../errors/gateway-error.ts';
import { ServiceFault, type ServiceJob } from './service-fault.ts';

export interface Named {
  name: string;
  model: string;
}

export interface ServiceChange {
  job: ServiceJob;
  fault: GatewayError;
  from: Named;
  to: Named;
  /** The fault is that of other calls: this one has not asked `from`, whose circuit is open. */
  isPassed?: true;
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
