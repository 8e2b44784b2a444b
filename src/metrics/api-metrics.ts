// Metrics of requests to the API. metrics.ts has the others and the registry.

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
  help: 'Waits of API requests for a place, by class of work and result: admitted, refused (too many of this organization or address wait), busy (too long, or to make room for others) or gone (the client left)',
  labelNames: ['class', 'result'] as const,
  buckets: [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30],
  registers,
});
export const admissionsWaiting = new Gauge({
  name: 'patchbay_admissions_waiting',
  help: 'API requests that wait for a place, by class of work',
  labelNames: ['class'] as const,
  registers,
});
