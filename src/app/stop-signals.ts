// How signals end a gateway: the first one drains, the second stops at once.

import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';

/** Signals within this time of the first count as the same. Ctrl-C reaches every process of the terminal, and npm
 *  passes on its own copy. A service manager that signals a whole group does the same. */
const SAME_SIGNAL_MS = 1_000;

/** What receives signals and exits: `process`, or that of a test. */
export interface SignalledProcess {
  on(signal: 'SIGTERM' | 'SIGINT', listener: (signal: string) => void): unknown;
  exit(code: number): void;
}

/** Calls `stop` at the first signal and exits when it settles. */
export function stopOnSignals(
  stop: () => Promise<void>,
  { clock, log, target = process }: { clock: Clock; log: Log; target?: SignalledProcess },
): void {
  let firstMs: number | undefined;
  const onSignal = (signal: string): void => {
    const nowMs = clock.monotonicMs();
    if (firstMs !== undefined) {
      if (nowMs - firstMs >= SAME_SIGNAL_MS) target.exit(1);
      return;
    }
    firstMs = nowMs;
    log.info({ signal }, 'stopping');
    stop().then(
      () => target.exit(0),
      (error: unknown) => {
        log.error({ err: error }, 'stop failed');
        target.exit(1);
      },
    );
  };
  target.on('SIGTERM', onSignal);
  target.on('SIGINT', onSignal);
}
