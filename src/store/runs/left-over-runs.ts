// Open runs of dead processes. A process is dead if it has written no heartbeat for a minute by the database's clock
// and, where this process has checked before, since then. (A jump of the clock would otherwise make all nodes seem dead
// until their next heartbeat.)

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { shifted } from '../db/database-time.ts';
import { DEAD_AFTER_MS } from '../db/node-entry.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { isOpen, toRun } from './runs.ts';

/** Runs of one take-over, more than a killed process with hundreds of calls leaves. */
const TAKEN_MAX = 5_000;

interface Seen {
  names: string[];
  /** Heartbeats, to the microsecond. */
  at: string[];
}

export class LeftOverRuns {
  readonly #context: StoreContext;
  /** Heartbeats at the previous check; undefined before it. */
  #seen: Seen | undefined;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes the runs over, so that of several nodes one closes each, and declares their nodes dead: their rows are
   *  deleted, and their later writes to these runs are refused (run-fencing.ts). Oldest first. */
  async take(): Promise<Run[]> {
    const before = this.#seen;
    this.#seen = await this.#look();
    const { db, node, epoch } = this.#context;
    const rows = await db.transaction().execute(async (tx) => {
      // The row lock delays a heartbeat of this moment until its row is gone, so that its node keeps no run that is
      // taken here.
      await sql`
        delete from nodes where (name, epoch) is distinct from (${node}, ${epoch}::bigint)
          and not (${this.#isLiving(before)})`.execute(tx);
      // A process of the version without epochs leaves other processes' epochs beside its name.
      const taken = await sql<Selectable<RunTable>>`
        update runs set owner_node = ${node}, owner_epoch = ${epoch},
          fenced_epochs = case when owner_epoch is null then fenced_epochs
            else array_append(fenced_epochs, owner_epoch) end
        where id in (
          select id from runs
          where ${isOpen()}
            and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)
            and not exists (
              select from nodes
              where nodes.name = runs.owner_node
                and (nodes.epoch is null or nodes.epoch = runs.owner_epoch)
            )
          order by id limit ${TAKEN_MAX}
          for update skip locked
        )
        returning *`.execute(tx);
      return taken.rows;
    });
    return rows.map(toRun).sort((one, other) => Number(one.id) - Number(other.id));
  }

  async #look(): Promise<Seen> {
    const { rows } = await sql<{ name: string; at: string }>`
      select name, seen_at::text as at from nodes`.execute(this.#context.db);
    return { names: rows.map(({ name }) => name), at: rows.map(({ at }) => at) };
  }

  #isLiving(before: Seen | undefined): RawBuilder<SqlBool> {
    const since = shifted(this.#context.time(), -DEAD_AFTER_MS);
    if (before === undefined) return sql<SqlBool>`seen_at >= ${since}`;
    return sql<SqlBool>`seen_at >= ${since} or not exists (
      select from unnest(${before.names}::text[], ${before.at}::timestamptz[]) as before (name, at)
      where before.name = nodes.name and before.at = seen_at)`;
  }
}
