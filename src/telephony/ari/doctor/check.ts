// The context of a doctor's check, and how a check becomes a finding: it has a deadline, and anything it throws is
// a finding too.

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

/** The configuration's connection in this process. */
export type LiveConnection = AriContext & { readonly state: PbxState };

export interface CheckContext {
  account: AriAccount;
  client: AriClient;
  /** Addresses of the configuration's active numbers. */
  numbers: readonly string[];
  /** The gateway's URL for Asterisk, without a trailing slash. */
  publicUrl: string;
  /** Undefined if another node has it, or none. */
  live: LiveConnection | undefined;
  egress: Egress;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

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

/** Never rejects. `msMax`: the deadline. */
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
      'Is Asterisk overloaded or stuck? A media socket that is not read, or a handshake that is not answered, blocks the whole PBX until it is closed: core show channels, core show locks.',
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
