// The owner of a run: the node that dialled its call, or has its media, or is about to.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

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

/** A call without media belongs to this node from now on, whichever dialled it. Nothing is written for a run of
 *  this node. */
export async function adoptRun({ db, node, epoch }: StoreContext, id: string): Promise<void> {
  if (!isRowId(id)) return;
  await sql`
    update runs set owner_node = ${node}, owner_epoch = ${epoch}
    where id = ${id} and state = 'initialized'
      and (owner_node, owner_epoch) is distinct from (${node}::text, ${epoch}::bigint)`.execute(db);
}
