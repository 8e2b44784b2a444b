// Metrics of the API process: requests, and its place among several gateways. metrics.ts has the others and the registry.

import { Gauge, Histogram } from 'prom-client';
import { registry } from './metrics.ts';

const registers = [registry];

export const requestSeconds = new Histogram({
  name: 'patchbay_request_seconds',
  help: 'HTTP requests, by route and status class',
  labelNames: ['route', 'status'] as const,
  buckets: [0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
  registers,
});
export const admissionSeconds = new Histogram({
  name: 'patchbay_admission_seconds',
  help: 'Waits of API requests for a slot, by class of work and result: admitted, refused (too many of this organization or address wait), busy (too long, or displaced by others) or gone (the client left)',
  labelNames: ['class', 'result'] as const,
  buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30],
  registers,
});
export const admissionsWaiting = new Gauge({
  name: 'patchbay_admissions_waiting',
  help: 'API requests that wait for a slot, by class of work',
  labelNames: ['class'] as const,
  registers,
});
export const clockSkewSeconds = new Gauge({
  name: 'patchbay_clock_skew_seconds',
  help: "The database's clock minus that of this machine, of gateways with DATABASE_URL",
  registers,
});
