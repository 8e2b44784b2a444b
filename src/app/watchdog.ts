// Watchdog of a gateway's process, by the settings.

import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { startEventLoopWatchdog } from '../runtime/event-loop-watchdog.ts';
import { type Fault, reportSelfTest } from '../runtime/self-test-report.ts';
import { systemClock as clock } from '../std/clock.ts';

/** Starts the watchdog of a process whose event loop must not block; undefined: the settings have no limit. */
export function startWatchdog({ stallMs: limitMs }: Config, log: Log) {
  if (limitMs === 0) return undefined;
  const onTested = (fault: Fault): void => reportSelfTest(log, 'event-loop-watchdog', fault);
  return startEventLoopWatchdog({ limitMs, clock, onTested });
}
