// What every check of the doctor works with, and how a check becomes a finding: it has a deadline, and
// whatever it throws is a finding too.

import type { Egress } from '../../../egress/egress-rule.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { Random } from '../../../std/random.ts';
import type { Finding, PbxState } from '../../provider/pbx.ts';
import type { AriClient } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import type { AriContext } from '../rest/peer.ts';

/** The connection that this process holds of the configuration. */
export type LiveConnection = AriContext & { readonly state: PbxState };

export interface CheckContext {
  account: AriAccount;
  client: AriClient;
  /** Addresses of the configuration's active numbers. */
  numbers: readonly string[];
  /** Where Asterisk reaches us, without a trailing slash. */
  publicUrl: string;
  /** Undefined if another node holds it, or nobody. */
  live: LiveConnection | undefined;
  egress: Egress;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

/** What is looked at, and how it is called. */
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

/** Never rejects. `msMax`: how long it may take. */
export async function check(
  context: CheckContext,
  subject: CheckSubject & { msMax: number },
  look: (signal: AbortSignal) => Promise<CheckOutcome>,
): Promise<Finding> {
  const { key, title, msMax } = subject;
  const deadline = deadlineSignal(context.clock, msMax, title, context.signal);
  try {
    return { key, title, ...(await look(deadline.signal)) };
  } catch (error) {
    return { key, title, ...asOutcome(context, error, deadline.signal.aborted, msMax) };
  } finally {
    deadline.done();
  }
}

function asOutcome(
  context: CheckContext,
  error: unknown,
  isLate: boolean,
  msMax: number,
): CheckOutcome {
  if (isLate) {
    return fail(
      context.signal.aborted
        ? 'The examination took too long as a whole.'
        : `It took longer than ${msMax / 1_000} s.`,
      'Is Asterisk overloaded or stuck? A media socket that nobody reads, or a handshake that nobody answers, holds up the whole PBX until it is gone: core show channels, core show locks.',
    );
  }
  if (error instanceof GatewayError) {
    return fail(
      `${error.message}.`.replace(/\.\.$/, '.'),
      'See the log of Asterisk at this moment.',
    );
  }
  context.log.error({ err: error }, 'a check of a PBX failed');
  return fail('The check itself failed; the log of the gateway says why.', 'Report it.');
}
