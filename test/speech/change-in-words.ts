// `a to b, timeout`: a change of service.

import { ServiceFault } from '../../src/speech/service/service-fault.ts';
import type { ServiceChange } from '../../src/speech/service/service-reports.ts';

export function changeInWords({ from, to, fault }: ServiceChange): string {
  return `${from.name} to ${to.name}, ${fault instanceof ServiceFault ? fault.kind : fault.code}`;
}
