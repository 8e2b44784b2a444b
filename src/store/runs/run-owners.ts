// Owners of runs: the node that dialled the call, or has its media, or is about to; the open runs of dead processes, and
// the runs that others took. Other changes of owners: run-dials.ts, and the states of runs.ts.

import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { isRowId } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import { DEAD_AFTER_MS } from '../db/node-entry.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { isOpen, isTaken, toRun } from './runs.ts';

/** Runs in one answer, more than begin while the database's answers are lost. */
const UNPLACED_MAX = 1_000;

export interface RunOwner {
  /** Name of the owner in `nodes`. It may be dead. */
  node: string;
  /** Whether the owner is this process. */
  isOwn: boolean;
}

/** Owner of the run; undefined if there is no such run. */
export async function runOwner(
  { db, node }: StoreContext,
  id: string,
): Promise<RunOwner | undefined> {
  if (!isRowId(id)) return undefined;
  const row = await db
    .selectFrom('runs')
    .select('owner_node')
    .where('id', '=', id)
    .executeTakeFirst();
  return row && { node: row.owner_node, isOwn: row.owner_node === node };
}

/** Calls that clients have started at this process, and that no provider has reported yet: only this process knows that
 *  they are being dialled. Oldest first. */
export async function unplacedRuns({ db, node, epoch }: StoreContext): Promise<string[]> {
  const rows = await db
    .selectFrom('runs')
    .select('id')
    .where(isOpen())
    .where('state', '=', 'initialized')
    .where('call_type', '=', 'outbound')
    .where('campaign_id', 'is', null)
    .where('provider_call_id', 'is', null)
    .where(sql<boolean>`(owner_node, owner_epoch) = (${node}::text, ${epoch}::bigint)`)
    .orderBy('id')
    .limit(UNPLACED_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

/** The runs among `ids` that were taken from this process. */
export async function takenRuns(
  context: StoreContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  const rows = await context.db
    .selectFrom('runs')
    .select('id')
    .where('id', '=', (of) => of.fn.any(of.val(ids.filter(isRowId))))
    .where(isTaken(context))
    .execute();
  return rows.map(({ id }) => id);
}

/** Runs of one take-over, more than a killed process with hundreds of calls leaves. */
const TAKEN_MAX = 5_000;

interface Seen {
  names: string[];
  /** Heartbeats, to the microsecond. */
  at: string[];
}

/** Open runs of dead processes. A process is dead if it has written no heartbeat for a minute
 *  by the database's clock and, where this process has checked before, since then. (A jump of
 *  the clock would otherwise make all nodes seem dead until their next heartbeat.) */
export class LeftOverRuns {
  readonly #context: StoreContext;
  /** Heartbeats at the previous check; undefined before it. */
  #seen: Seen | undefined;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Takes the runs over, so that of several nodes one closes each, and declares their nodes dead: their rows are
   *  deleted, and their later writes to these runs are refused (`isTaken`). Oldest first. */
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
