// The thread of stall-guard: looks whether the event loop beats, and kills the process if it does not. It
// counts its own looks, not the time: while everything stands still, as in a suspended machine, so does it.

import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { Watched } from './event-loop-watchdog.ts';

const { shared, looksMax, lookMs } = workerData as Watched;
const counters = new Int32Array(shared);
const STDERR = 2;

let seen = -1;
for (let looks = 0; looks < looksMax; looks++) {
  Atomics.wait(counters, 1, 0, lookMs);
  const beats = Atomics.load(counters, 0);
  if (beats !== seen) looks = 0;
  seen = beats;
}
const seconds = (looksMax * lookMs) / 1_000;
writeSync(
  STDERR,
  `The event loop has stood still for ${seconds} s: the gateway is killed (PATCHBAY_STALL_SECONDS)\n`,
);
process.kill(process.pid, 'SIGKILL');
