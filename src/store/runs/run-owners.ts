// Owners of runs: the node that dialled the call, or has its media, or is about to. Changes of owners: run-dials.ts,
// and the states of runs.ts.

import { sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import { isOpen } from './runs.ts';

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
