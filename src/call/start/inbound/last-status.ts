// Stores the last status of a call, which a PBX reports only once: retries while the store is unavailable.

import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { pause } from '../../../std/pause.ts';

/** Time of the retries; after it the watchdog closes the run. */
const STORED_MS_MAX = 180_000;
const PAUSE_MS = 5_000;

/** Calls `take` until it succeeds. Throws its last error after three minutes. */
export async function untilStored(
  { clock, log }: { clock: Clock; log: Log },
  take: () => Promise<void>,
): Promise<void> {
  const { signal, done } = deadlineSignal(clock, STORED_MS_MAX, 'store the end of a call');
  try {
    for (;;) {
      try {
        await take();
        return;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ err: error }, 'end of a call not stored yet');
      }
      await pause(clock, PAUSE_MS, signal);
    }
  } finally {
    done();
  }
}
