// Dependencies that every client of a speech service receives.

import type { Egress } from '../../egress/egress-rule.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { WarmConnections } from './warm-connections.ts';

export interface ServiceMeans {
  clock: Clock;
  log: Log;
  /** Egress rule of users' services, which are often self-hosted in a private network. */
  egress: Egress;
  warm: WarmConnections;
}

/** Largest plausible count: far more than a sentence's characters or the longest call's seconds. */
const COUNT_MAX = 100_000;

/** One entry of a call's bill. */
export interface ServiceUsage {
  job: 'stt' | 'tts';
  /** Service name as in the configuration: `deepgram`. */
  service: string;
  model: string;
  unit: 'seconds' | 'characters';
  /** Negative if the service has corrected an earlier entry downwards. */
  amount: number;
  /** `vendor`: the service counted; `counted`: the gateway did. */
  source: 'vendor' | 'counted';
}

/** Whether `value` is a plausible count of the service. */
export function isServiceCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < COUNT_MAX;
}

/** Entry that corrects the gateway's count to the service's. Undefined if they are equal or the service sent no
 *  count. */
export function correctedUsage(
  counted: ServiceUsage,
  byService: unknown,
): ServiceUsage | undefined {
  if (!isServiceCount(byService)) return undefined;
  const amount = Math.round((byService - counted.amount) * 1_000) / 1_000;
  return amount === 0 ? undefined : { ...counted, amount, source: 'vendor' };
}
