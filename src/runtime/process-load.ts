// Load of this process: its event loop and its processors.

import { availableParallelism } from 'node:os';
import { performance } from 'node:perf_hooks';

export interface Load {
  /** Share of the time in which the event loop had work, 0 to 1. */
  loop: number;
  /** Processor time of all threads, as a share of the processors that the process may use, 0 to 1. */
  cpu: number;
}

export interface LoadMeter {
  /** Load since the previous call. */
  sample(): Load;
}

export function processLoadMeter(): LoadMeter {
  let loop = performance.eventLoopUtilization();
  let cpu = process.cpuUsage();
  return {
    sample() {
      const loopNow = performance.eventLoopUtilization();
      const since = performance.eventLoopUtilization(loopNow, loop);
      const used = process.cpuUsage(cpu);
      const elapsedMs = since.active + since.idle;
      loop = loopNow;
      cpu = process.cpuUsage();
      if (!(elapsedMs > 0)) return { loop: 0, cpu: 0 };
      const cpuMs = (used.user + used.system) / 1_000;
      return {
        loop: since.utilization,
        cpu: Math.min(1, cpuMs / elapsedMs / availableParallelism()),
      };
    },
  };
}

export interface LoadLimits {
  /** Share of the event loop's time and of the processors, 0 to 1. Infinity: no limit. */
  load: number;
  /** Longest delay of timers in milliseconds. Infinity: no limit. Audio is sent at least 60 ms ahead. */
  delayMs: number;
}
