// Repeats an idempotent command to a provider after a transient fault: one 429, as when many calls end at once, would
// leave a caller on a silent line.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { pause } from '../../std/pause.ts';

const ATTEMPTS_MAX = 4;
/** Pause before the second attempt; each further pause is twice as long. */
const PAUSE_MS = 250;

/** Codes of faults after which the command may have had no effect, and may succeed on repetition. */
const repeatable: ReadonlySet<string> = new Set([
  'PROVIDER_FAILED',
  'PROVIDER_UNCERTAIN',
  'PROVIDER_TIMEOUT',
  'PROVIDER_CAPACITY',
]);

/** Sends until one attempt succeeds. Throws the error of the last attempt. `signal` ends all attempts. */
export async function sendRepeatedly(
  clock: Clock,
  command: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await command();
      return;
    } catch (error) {
      const mayHelp = repeatable.has(codeOf(error) ?? '') && attempt < ATTEMPTS_MAX;
      if (!mayHelp || signal.aborted) throw error;
    }
    await pause(clock, PAUSE_MS * 2 ** (attempt - 1), signal);
  }
}
