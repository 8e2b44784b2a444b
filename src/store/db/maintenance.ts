// Maintenance that a PostgreSQL server does by itself and the embedded engine, which has no background processes, does
// not: checkpoints (measured without: 214 MB of log, none reused), vacuum and analyze. One small step at a time,
// because all statements wait for it.

import { Client } from 'pg';
import type { Log } from '../../log.ts';
import type { Clock } from '../../std/clock.ts';
import { JobLoop } from '../../std/job-loop.ts';
import { connectionConfig, type DatabaseTarget } from './connections.ts';

const EVERY_MS = 60_000;
/** Bytes of log since the last checkpoint: about a second of replay after a crash. */
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** Changed rows, plus a tenth of the table, from which a table is due, as in autovacuum. */
const CHANGED_ROWS_MAX = 200;
/** Longest wait for one table's vacuum. The engine cannot be interrupted, so only our wait ends. */
const STEP_MS_MAX = 120_000;

export class DatabaseMaintenance {
  readonly #target: DatabaseTarget;
  readonly #log: Log;
  readonly #loop: JobLoop;

  constructor(target: DatabaseTarget, { clock, log }: { clock: Clock; log: Log }) {
    this.#target = target;
    this.#log = log;
    this.#loop = new JobLoop({
      clock,
      everyMs: EVERY_MS,
      run: async () => log.debug({ done: await this.step() }, 'maintenance of the database'),
      onError: (error) => log.warn({ err: error }, 'maintenance of the database failed'),
    });
  }

  start(): void {
    this.#loop.startAfter(EVERY_MS);
  }

  /** Stops after the step in progress. */
  stop(): Promise<void> {
    return this.#loop.stop(STEP_MS_MAX);
  }

  /** Runs a checkpoint if it is due, else maintenance of the table that needs it most. Returns what it did. */
  async step(): Promise<'checkpoint' | 'vacuum' | 'nothing'> {
    const client = new Client({
      ...connectionConfig(this.#target, 'maintenance'),
      query_timeout: STEP_MS_MAX,
      connectionTimeoutMillis: STEP_MS_MAX,
    });
    client.on('error', (error) =>
      this.#log.warn({ err: error }, 'maintenance lost its connection'),
    );
    await client.connect();
    try {
      if (await isCheckpointDue(client)) {
        await client.query('checkpoint');
        return 'checkpoint';
      }
      // The view does not have the counts of the last second yet.
      await client.query('select pg_stat_force_next_flush()');
      const table = await neediestTable(client);
      if (table === undefined) return 'nothing';
      await client.query(`vacuum (analyze) ${client.escapeIdentifier(table)}`);
      return 'vacuum';
    } finally {
      await client.end();
    }
  }
}

async function isCheckpointDue(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ due: boolean }>(
    'select pg_current_wal_insert_lsn() - redo_lsn > $1 as due from pg_control_checkpoint()',
    [LOG_BYTES_MAX],
  );
  return rows[0]?.due ?? false;
}

async function neediestTable(client: Client): Promise<string | undefined> {
  const { rows } = await client.query<{ relname: string }>(
    `select relname from pg_stat_user_tables
      where greatest(n_dead_tup, n_mod_since_analyze) > $1 + n_live_tup / 10
      order by greatest(n_dead_tup, n_mod_since_analyze) desc limit 1`,
    [CHANGED_ROWS_MAX],
  );
  return rows[0]?.relname;
}
