// One check of an examination, and how its result becomes a finding. It has a deadline, and any error that it throws
// becomes a finding too.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Finding } from './pbx.ts';

/** The subject of a check, and its title. */
export interface CheckSubject {
  key: string;
  title: string;
}

export type CheckOutcome = Pick<Finding, 'verdict' | 'message' | 'advice'>;

export const pass = (message: string): CheckOutcome => ({ verdict: 'pass', message, advice: null });
export const warn = (message: string, advice: string): CheckOutcome => ({
  verdict: 'warn',
  message,
  advice,
});
export const fail = (message: string, advice: string): CheckOutcome => ({
  verdict: 'fail',
  message,
  advice,
});
export const skip = (message: string): CheckOutcome => ({ verdict: 'skip', message, advice: null });

export interface CheckMeans {
  clock: Clock;
  log: Log;
  signal: AbortSignal;
  /** Advice for a check that takes too long, and for an error without advice of its own. */
  advice: { late: string; error: (error: GatewayError) => string };
}

/** Runs one check within `msMax` milliseconds. Never rejects. */
export async function runCheck(
  means: CheckMeans,
  subject: CheckSubject & { msMax: number },
  look: (signal: AbortSignal) => Promise<CheckOutcome>,
): Promise<Finding> {
  const { key, title, msMax } = subject;
  const deadline = deadlineSignal(means.clock, msMax, title, means.signal);
  try {
    return { key, title, ...(await look(deadline.signal)) };
  } catch (error) {
    return { key, title, ...asOutcome(means, error, deadline.signal.aborted, msMax) };
  } finally {
    deadline.done();
  }
}

function asOutcome(
  means: CheckMeans,
  error: unknown,
  isLate: boolean,
  msMax: number,
): CheckOutcome {
  const { signal, log, advice } = means;
  if (isLate) {
    return fail(
      signal.aborted
        ? 'The examination took too long as a whole.'
        : `It took longer than ${msMax / 1_000} s.`,
      advice.late,
    );
  }
  if (error instanceof GatewayError) {
    return fail(`${error.message}.`.replace(/\.\.$/, '.'), advice.error(error));
  }
  log.error({ err: error }, 'a check failed');
  return fail('The check itself failed; the log of the gateway says why.', 'Report it.');
}
