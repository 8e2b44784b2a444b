// The owner of a run: the node that dialled its call, or has its media, or is about to. How it changes: run-dials.ts,
// and the states of runs.ts.

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
