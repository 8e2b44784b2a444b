// Dependencies of every repository.

import type { Kysely, Transaction } from 'kysely';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { SerialQueues } from '../../std/serial-queue.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { DatabaseTime } from './database-time.ts';
import type { Tables } from './tables.ts';

/** One of the processes that use the database. */
export interface NodeIdentity {
  /** Name in `nodes` and `runs.owner_node`, which a successor takes over. */
  node: string;
  /** Number of this process, as digits. A process that was declared dead continues under a new one. */
  epoch: string;
}

export interface StoreContext extends NodeIdentity {
  /** Epochs under which this process was declared dead. */
  formerEpochs?: string[];
  db: Kysely<Tables>;
  /** Queues for transactions that lock an organization (organization-lock.ts). */
  organizationTurns: SerialQueues;
  /** Clock for times that only this process compares, and for display. */
  clock: Clock;
  /** Clock for times that several processes compare. */
  time: DatabaseTime;
  random: Random;
  secrets: SecretBox;
  /** Concurrent calls of an organization without a limit of its own. */
  callLimit: number;
  /** Lifetime of a run's public token, in days. Default: 30. */
  publicLinkDays?: number | undefined;
  log: Log;
}

export type TransactionContext = Transaction<Tables>;
