// The context of a check of an Asterisk, and the check itself, with advice about Asterisk.

import type { Egress } from '../../../egress/egress-rule.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Random } from '../../../std/random.ts';
import {
  type CheckMeans,
  type CheckOutcome,
  type CheckSubject,
  runCheck,
} from '../../provider/check.ts';
import type { Finding, NumberCalls, PbxState } from '../../provider/pbx.ts';
import type { UnconfiguredNumbers } from '../../provider/unconfigured-numbers.ts';
import type { RefusedConnections } from '../connection/refused-connections.ts';
import type { TestCalls } from '../connection/test-calls.ts';
import type { AriClient } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import type { AriContext } from '../rest/peer.ts';

/** The configuration's connection in this process, with the refused numbers that were called over it. */
export type LiveConnection = AriContext & {
  readonly state: PbxState;
  readonly unconfigured: Pick<UnconfiguredNumbers, 'list'>;
};

export interface CheckContext {
  account: AriAccount;
  client: AriClient;
  /** Addresses of the configuration's active numbers. */
  numbers: readonly string[];
  /** The gateway's URL for Asterisk, without a trailing slash. */
  publicUrl: string;
  /** Undefined if another node has the connection, or none has. */
  live: LiveConnection | undefined;
  /** Whether the numbers are called, and in which context. Default: not called. */
  calls?: NumberCalls | undefined;
  testCalls: Pick<TestCalls, 'open'>;
  /** Connections of PBXs that were refused. */
  refused: Pick<RefusedConnections, 'of' | 'unknown'>;
  egress: Egress;
  clock: Clock;
  random: Random;
  log: Log;
  signal: AbortSignal;
}

const ADVICE: CheckMeans['advice'] = {
  late: 'Is Asterisk overloaded or stuck? A media socket that is not read, or a handshake that is not answered, blocks the whole PBX until it is closed: core show channels, core show locks.',
  error: () => 'See the log of Asterisk at this moment.',
};

/** Runs one check within `msMax` milliseconds. Never rejects. */
export function check(
  { clock, log, signal }: CheckContext,
  subject: CheckSubject & { msMax: number },
  look: (signal: AbortSignal) => Promise<CheckOutcome>,
): Promise<Finding> {
  return runCheck({ clock, log, signal, advice: ADVICE }, subject, look);
}
