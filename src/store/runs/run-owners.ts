// Owners of runs: the node that dialled the call, or has its media, or is about to; the open runs of dead processes, and
// the runs that others took. Other changes of owners: run-dials.ts, and the states of runs.ts.

import { type Selectable, type SqlBool, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { isRowId } from '../db/column-values.ts';
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

/** Runs of one take-over: several gateways share the work, and one that dies meanwhile leaves the rest to the others. */
export const TAKEN_MAX = 200;

/** The calls among `ids` that this process does not have any more: another process has them, or they are over. A call that
 *  is `running` may wait for media again (call/end/call-resumption.ts). */
export async function runsNotHeld(
  { db, node }: StoreContext,
  ids: readonly string[],
): Promise<string[]> {
  const known = ids.filter(isRowId);
  if (known.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select id from unnest(${known}::bigint[]) as known (id)
    where not exists (
      select from runs
      where runs.id = known.id and state <> 'completed' and owner_node = ${node}
    )`.execute(db);
  return rows.map(({ id }) => id);
}

/** Takes over open runs whose process is dead or has been replaced, so that of several processes one has each. Later
 *  writes of the former owner to these runs are refused (`isTaken`). Oldest first. `onlyReplaced`: only those whose
 *  owner's name another process has; the others' may be alive and enter again. Calls that talk over a PBX are for the
 *  gateway with the connection to it, as they may go on there. */
export async function takeOrphanedRuns(
  { db, node, epoch, time, gateway = node }: StoreContext,
  { onlyReplaced } = { onlyReplaced: false },
): Promise<Run[]> {
  const isNamed = sql<SqlBool>`exists (select from nodes where nodes.name = runs.owner_node)`;
  // A process of the version without epochs leaves other processes' epochs beside its name.
  const { rows } = await sql<Selectable<RunTable>>`
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
        and ${onlyReplaced ? isNamed : sql<SqlBool>`true`}
        and (state <> 'running' or not exists (
          select from configuration_leases as lease
          where lease.configuration_id = runs.configuration_id and lease.lease_until > ${time()}
            and lease.node <> ${gateway} and not starts_with(lease.node, ${`${gateway}#`})
        ))
      order by id limit ${TAKEN_MAX}
      for update skip locked
    )
    returning *`.execute(db);
  return rows.map(toRun).sort((one, other) => Number(one.id) - Number(other.id));
}

/** Takes a call that talked over from the process that had its media. That process is dead, or the provider has reported
 *  that the media ended; its later writes to the run are refused (`isTaken`). Undefined, without a change, for a run that
 *  is this process's, or is not `running`. */
export async function takeTalkingRun(
  { db, node, epoch }: StoreContext,
  id: string,
): Promise<Run | undefined> {
  if (!isRowId(id)) return undefined;
  const { rows } = await sql<Selectable<RunTable>>`
    update runs set owner_node = ${node}, owner_epoch = ${epoch},
      fenced_epochs = case when owner_epoch is null then fenced_epochs
        else array_append(fenced_epochs, owner_epoch) end
    where id = ${id} and state = 'running' and not is_idle
      and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)
    returning *`.execute(db);
  return rows[0] && toRun(rows[0]);
}

/** Takes a call that talked, whose provider or PBX keeps it, and that no process of this gateway holds; crash recovery may
 *  have taken its run for this gateway before. Undefined, without a change, for a run that a living process of another
 *  gateway has, or that is not `running`. Later writes of a former owner are refused (`isTaken`). */
export async function takeLeftRun(
  { db, node, epoch, gateway = node }: StoreContext,
  id: string,
): Promise<Run | undefined> {
  if (!isRowId(id)) return undefined;
  const isOwn = sql<SqlBool>`((owner_node, owner_epoch) is not distinct from (${node}::text, ${epoch}::bigint))`;
  const { rows } = await sql<Selectable<RunTable>>`
    update runs set owner_node = ${node}, owner_epoch = ${epoch},
      fenced_epochs = case when owner_epoch is null or ${isOwn} then fenced_epochs
        else array_append(fenced_epochs, owner_epoch) end
    where id = ${id} and state = 'running' and not is_idle
      and not exists (
        select from nodes where nodes.name = runs.owner_node
          and (nodes.epoch is null or nodes.epoch = runs.owner_epoch)
          and nodes.name <> ${gateway} and not starts_with(nodes.name, ${`${gateway}#`})
      )
    returning *`.execute(db);
  return rows[0] && toRun(rows[0]);
}
