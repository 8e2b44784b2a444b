// What every client of a speech service is given.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { WarmConnections } from './warm-connections.ts';

export interface ServiceMeans {
  clock: Clock;
  log: Log;
  /** The addresses of services are users': self-hosted ones are often in a private network. */
  egress: Egress;
  warm: WarmConnections;
}

/** One entry of a call's bill. */
export interface ServiceUsage {
  job: 'stt' | 'tts';
  /** As in the configuration: `deepgram`. */
  service: string;
  model: string;
  unit: 'seconds' | 'characters';
  amount: number;
  /** Whether the service counted, or the gateway. */
  source: 'vendor' | 'counted';
}
