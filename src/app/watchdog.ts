// The watchdog of a process of the gateway, as the settings want it.

import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { startEventLoopWatchdog } from '../runtime/event-loop-watchdog.ts';
import { type Fault, reportSelfTest } from '../runtime/self-test-report.ts';
import { systemClock as clock } from '../std/clock.ts';

/** For a process whose event loop must not block; undefined: the settings have no limit. */
export function startWatchdog({ stallMs: limitMs }: Config, log: Log) {
  if (limitMs === 0) return undefined;
  const onTested = (fault: Fault): void => reportSelfTest(log, 'event-loop-watchdog', fault);
  return startEventLoopWatchdog({ limitMs, clock, onTested });
}
