// Metrics of files in S3 and of those that wait on the disk for it. Without S3 they stay empty.

import { Gauge, Histogram } from 'prom-client';
import { registry } from './metrics.ts';

const registers = [registry];

export const s3Seconds = new Histogram({
  name: 'patchbay_s3_seconds',
  help: 'Tries of requests to S3, by operation and result: ok, missing, exists, refused, failed or timeout',
  labelNames: ['operation', 'result'] as const,
  buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30],
  registers,
});
export const spoolBytes = new Gauge({
  name: 'patchbay_spool_bytes',
  help: "Bytes on the gateway's disk of files that are not in S3, those of running calls included, at the last look",
  registers,
});
export const spoolOldestSeconds = new Gauge({
  name: 'patchbay_spool_oldest_seconds',
  help: 'Age of the oldest file that waits to be stored in S3, at the last look (every 30 s while one waits); 0 if none waits',
  registers,
});
