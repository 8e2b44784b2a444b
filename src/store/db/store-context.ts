// Dependencies of every repository.

import type { Kysely, Transaction } from 'kysely';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { SerialQueues } from '../../std/serial-queue.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import type { DatabaseTime } from './database-time.ts';
import type { PresencePace } from './presence-pace.ts';
import type { Tables } from './tables.ts';

/** One of the processes that use the database. */
export interface NodeIdentity {
  /** Name in `nodes` and `runs.owner_node`, which a successor takes over. */
  node: string;
  /** Number of this process, as digits. A process that was declared dead continues under a new one. */
  epoch: string;
}

/** Where other gateways reach a gateway, and its version. */
export interface GatewayAddress {
  url: string;
  version: string;
}

export interface StoreContext extends NodeIdentity {
  /** Of the process that has the gateway's own name; undefined in its other processes, and where the database is not
   *  shared with other gateways. */
  address?: GatewayAddress | undefined;
  /** Epochs under which this process was declared dead. */
  formerEpochs?: string[];
  db: Kysely<Tables>;
  /** The connection of heartbeats, checks and leases, with a short deadline: they do not wait for other statements.
   *  Default: `db`. */
  presence?: Kysely<Tables> | undefined;
  pace: PresencePace;
  /** Name of the gateway to which this process belongs. Default: its own. */
  gateway?: string | undefined;
  /** Whether this process dials campaigns, which its heartbeat stores. */
  dialsCampaigns?: boolean;
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
  /** Name of the gateway, on whose disk files of runs wait for S3; undefined without S3. */
  filesNode?: string | undefined;
  log: Log;
}

export type TransactionContext = Transaction<Tables>;
