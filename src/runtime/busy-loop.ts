// Measures whether the event loop of this process has time to spare. Waiting for a processor counts as busy.

import { performance } from 'node:perf_hooks';
import type { Clock } from '../std/clock.ts';

/** Shortest measurement, so that one long task does not look like a busy loop. */
const SAMPLE_MS_MIN = 500;
/** Share of time with work from which the loop is busy. Above it, new work waits for several times its own duration. */
const BUSY_MIN = 0.7;

/** Returns a function that reports whether the loop is busy. It may be called at any rate: each answer covers the last
 *  half second or longer. `share`: time with work since the previous call, 0 to 1. */
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
