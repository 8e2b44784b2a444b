// Fencing: other processes may have taken and closed runs of a process that was suspended and declared dead. Its later
// writes to these are refused; its other runs remain its own.

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Whether the row of `runs` was taken from this process. */
export function isTaken({
  epoch,
  formerEpochs = [],
}: Pick<StoreContext, 'epoch' | 'formerEpochs'>): RawBuilder<SqlBool> {
  const own = [...formerEpochs, epoch];
  // It may have returned by the death of the other process.
  return sql<SqlBool>`coalesce(
    runs.fenced_epochs && ${own}::bigint[] and runs.owner_epoch is distinct from ${epoch}::bigint,
    false)`;
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
