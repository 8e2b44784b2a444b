// Report that a call uses another service because of a temporary fault. The caller notices a pause at most, but the
// owner of the call must be able to see it. Lasting faults are reported separately.

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
