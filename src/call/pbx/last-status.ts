// The last status of a call, which a PBX does not report again: a store that is away is waited for.

import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';

/** With a pause after each, three minutes; after that the watchdog closes the run. */
const ATTEMPTS_MAX = 36;
const PAUSE_MS = 5_000;

/** `take` may be called several times. Throws its last error. */
export async function untilStored(
  { clock, log }: { clock: Clock; log: Log },
  take: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await take();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS_MAX) throw error;
      log.warn({ err: error }, 'end of a call not stored yet');
    }
    await new Promise<void>((resolve) => {
      clock.after(PAUSE_MS, resolve);
    });
  }
}
