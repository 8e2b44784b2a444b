// What every repository works with.

import type { Kysely, Transaction } from 'kysely';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { DatabaseTime } from './database-time.ts';
import type { Tables } from './tables.ts';

/** A process among those at one database. */
export interface NodeIdentity {
  /** As `nodes` and `runs.owner_node` name it; its next process has it too. */
  node: string;
  /** Its own number, as digits. */
  epoch: string;
}

export interface StoreContext extends NodeIdentity {
  db: Kysely<Tables>;
  /** For what this process alone measures, and for what people are shown. */
  clock: Clock;
  /** For what several processes compare. */
  time: DatabaseTime;
  random: Random;
  secrets: SecretBox;
  /** Calls at a time for an organization without a limit of its own. */
  callLimit: number;
  log: Log;
}

export type TransactionContext = Transaction<Tables>;
