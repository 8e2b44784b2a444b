// Calls that go on at this moment, of all nodes: the runs that have a call and are not completed.

import type { StoreContext } from './context.ts';
import type { ActiveCall } from './run-pages.ts';
import { isOpen, toRun } from './runs.ts';
import { isRowId } from './stored-values.ts';

/** Newest first. */
export async function listActiveCalls(
  { db }: StoreContext,
  organizationId: string,
  page: { limit: number; offset: number },
): Promise<{ calls: ActiveCall[]; total: number }> {
  if (!isRowId(organizationId)) return { calls: [], total: 0 };
  const open = db.selectFrom('runs').where('organization_id', '=', organizationId).where(isOpen());
  const rows = await open
    .selectAll()
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { count } = await open
    .select((of) => of.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  const calls = rows.map((row) => ({ run: toRun(row), node: row.owner_node }));
  return { calls, total: Number(count) };
}
