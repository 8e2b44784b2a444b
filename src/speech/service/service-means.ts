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

/** A sentence has fewer characters by far, and the longest call fewer seconds. */
const COUNT_MAX = 100_000;

/** One entry of a call's bill. */
export interface ServiceUsage {
  job: 'stt' | 'tts';
  /** As in the configuration: `deepgram`. */
  service: string;
  model: string;
  unit: 'seconds' | 'characters';
  /** Below zero where the service has counted less than an entry before said. */
  amount: number;
  /** Whether the service counted, or the gateway. */
  source: 'vendor' | 'counted';
}

/** Whether a service can have counted so much of a unit. */
export function isServiceCount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < COUNT_MAX;
}

/** The entry that makes the service's count of what the gateway has counted. Undefined: it is the same, or no count. */
export function correctedUsage(
  counted: ServiceUsage,
  byService: unknown,
): ServiceUsage | undefined {
  if (!isServiceCount(byService)) return undefined;
  const amount = Math.round((byService - counted.amount) * 1_000) / 1_000;
  return amount === 0 ? undefined : { ...counted, amount, source: 'vendor' };
}
