// What clients of services are given in tests: loopback is allowed, nothing is opened ahead.

import { createEgress, type Egress } from '../../../src/egress/egress-rule.ts';
import type { ServiceMeans } from '../../../src/speech/service/service-means.ts';
import { WarmConnections } from '../../../src/speech/service/warm-connections.ts';
import type { Clock } from '../../../src/std/clock.ts';
import { quietLog } from '../quiet-log.ts';

export function serviceMeans(clock: Clock, egress: Egress = createEgress()): ServiceMeans {
  return { clock, egress, log: quietLog().log, warm: new WarmConnections({ clock, egress }) };
}
