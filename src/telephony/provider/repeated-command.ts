// A command to a provider that may be carried out twice without harm, sent again after a fault that may pass: one 429, as
// when many calls end at once, would leave a caller on a silent line.

import { codeOf } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { pause } from '../../std/pause.ts';

const ATTEMPTS_MAX = 4;
/** Before the second attempt; each further pause is twice as long. */
const PAUSE_MS = 250;

/** The command may have had no effect, and may succeed now. */
const repeatable: ReadonlySet<string> = new Set([
  'PROVIDER_FAILED',
  'PROVIDER_UNCERTAIN',
  'PROVIDER_TIMEOUT',
  'PROVIDER_CAPACITY',
]);

/** Throws the error of the last attempt. `signal`: of all attempts. */
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
