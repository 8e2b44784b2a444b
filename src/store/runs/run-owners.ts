// The owner of a run: the node that dialled its call, or has its media, or is about to.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { isTaken } from './run-fencing.ts';

export interface RunOwner {
  /** Its name in `nodes`. It may be dead. */
  node: string;
  /** The owner is this process. */
  isOwn: boolean;
}

/** Undefined if there is no such run. */
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

/** A call that has no media yet is this node's from now on, whichever placed it. Nothing is written for a run that
 *  is this node's. */
export async function adoptRun(context: StoreContext, id: string): Promise<void> {
  if (!isRowId(id)) return;
  const { db, node, epoch } = context;
  await sql`
    update runs set owner_node = ${node}, owner_epoch = ${epoch}
    where id = ${id} and state = 'initialized' and not ${isTaken(context)}
      and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)`.execute(db);
}
