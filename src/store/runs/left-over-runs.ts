// Open runs whose process is dead: it has written no heartbeat for a minute, by the database's clock and, where
// this process has checked before, since then. (A jump of the clock would otherwise make all nodes seem dead until
// their next heartbeat.)

import { type Selectable, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { shifted } from '../db/database-time.ts';
import { DEAD_AFTER_MS } from '../db/node-entry.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { isOpen, toRun } from './runs.ts';

/** More than a process of hundreds of calls leaves behind when it is killed. */
const TAKEN_MAX = 5_000;

interface Seen {
  names: string[];
  /** To the microsecond. */
  at: string[];
}

export class LeftOverRuns {
  readonly #context: StoreContext;
  /** Undefined until this process has checked. */
  #seen: Seen | undefined;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes them over, so that of several nodes one closes each. Oldest first. */
  async take(): Promise<Run[]> {
    const before = this.#seen;
    this.#seen = await this.#look();
    const { db, node, epoch } = this.#context;
    // A process of the version that knew no epochs leaves those of others beside its name.
    const { rows } = await sql<Selectable<RunTable>>`
      with living as materialized (${this.#living(before)})
      update runs set owner_node = ${node}, owner_epoch = ${epoch} where id in (
        select id from runs
        where ${isOpen()}
          and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)
          and not exists (
            select from living
            where living.name = runs.owner_node
              and (living.epoch is null or living.epoch = runs.owner_epoch)
          )
        order by id limit ${TAKEN_MAX}
        for update skip locked
      )
      returning *`.execute(db);
    return rows.map(toRun).sort((one, other) => Number(one.id) - Number(other.id));
  }

  async #look(): Promise<Seen> {
    const { rows } = await sql<{ name: string; at: string }>`
      select name, seen_at::text as at from nodes`.execute(this.#context.db);
    return { names: rows.map(({ name }) => name), at: rows.map(({ at }) => at) };
  }

  #living(before: Seen | undefined) {
    const since = shifted(this.#context.time(), -DEAD_AFTER_MS);
    if (before === undefined) return sql`select name, epoch from nodes where seen_at >= ${since}`;
    return sql`
      select nodes.name, epoch from nodes
      left join unnest(${before.names}::text[], ${before.at}::timestamptz[]) as before (name, at)
        on before.name = nodes.name
      where seen_at >= ${since} or before.at is distinct from seen_at`;
  }
}
