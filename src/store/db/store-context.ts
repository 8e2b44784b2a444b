// Dependencies of every repository.

import type { Kysely, Transaction } from 'kysely';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { SerialQueues } from '../../std/serial-queue.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { DatabaseTime } from './database-time.ts';
import type { Tables } from './tables.ts';

/** One process among those at the same database. */
export interface NodeIdentity {
  /** The name in `nodes` and `runs.owner_node`; its successor has it too. */
  node: string;
  /** Its own number, as digits. A process that was declared dead goes on under a new one. */
  epoch: string;
}

export interface StoreContext extends NodeIdentity {
  /** Under which this process was declared dead. */
  formerEpochs?: string[];
  db: Kysely<Tables>;
  /** For transactions that lock an organization (organization-lock.ts). */
  organizationTurns: SerialQueues;
  /** For times that only this process compares, and for display. */
  clock: Clock;
  /** For times that several processes compare. */
  time: DatabaseTime;
  random: Random;
  secrets: SecretBox;
  /** Concurrent calls of an organization without a limit of its own. */
  callLimit: number;
  /** Life of a run's public token. Default: 30. */
  publicLinkDays?: number | undefined;
  log: Log;
}

export type TransactionContext = Transaction<Tables>;
