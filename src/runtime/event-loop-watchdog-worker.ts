// Worker thread of event-loop-watchdog: checks the heartbeat of the event loop and kills the process if it stops. It
// counts checks, not time, because it stops together with a suspended machine.

import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import type { WatchdogState } from './event-loop-watchdog.ts';

const { shared, missedChecksMax, checkIntervalMs } = workerData as WatchdogState;
const counters = new Int32Array(shared);
const STDERR = 2;

let seen = -1;
for (let looks = 0; looks < missedChecksMax; looks++) {
  Atomics.wait(counters, 1, 0, checkIntervalMs);
  const beats = Atomics.load(counters, 0);
  if (beats !== seen) looks = 0;
  Atomics.add(counters, 2, 1);
  seen = beats;
}
const seconds = (missedChecksMax * checkIntervalMs) / 1_000;
writeSync(
  STDERR,
  `The event loop of process ${process.pid} was blocked for ${seconds} s: the process is killed (PATCHBAY_STALL_SECONDS)\n`,
);
process.kill(process.pid, 'SIGKILL');
