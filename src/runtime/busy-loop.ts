// Whether the event loop of this process has time to spare. It counts as busy while it waits for a processor as well.

import { performance } from 'node:perf_hooks';
import type { Clock } from '../std/clock.ts';

/** Long enough that one long task is not taken for a busy loop. */
const SAMPLE_MS_MIN = 500;
/** Of the time with something to do. Above it what comes waits for several times its own work. */
const BUSY_MIN = 0.7;

/** Asked as often as you like; the answer is of the last half second or longer, since it was asked. `share`: of the time
 *  with something to do since it was asked last, 0 to 1. */
export function busyLoopMeter(clock: Clock, share = ownShare()): () => boolean {
  let sampledMs = clock.monotonicMs();
  let isBusy = false;
  return () => {
    const nowMs = clock.monotonicMs();
    if (nowMs - sampledMs < SAMPLE_MS_MIN) return isBusy;
    sampledMs = nowMs;
    isBusy = share() >= BUSY_MIN;
    return isBusy;
  };
}

function ownShare(): () => number {
  let since = performance.eventLoopUtilization();
  return () => {
    const used = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(used, since);
    since = used;
    return utilization;
  };
}
