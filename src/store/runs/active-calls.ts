// Active calls of all nodes: the runs that have a call and are not completed; and the runs that an organization's
// event feed must follow.

import { isRowId } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { ActiveCall, FollowedRun } from './run-filters.ts';
import { LISTED_COLUMNS } from './run-list.ts';
import { isOpen, toRun } from './runs.ts';

/** Calls that ring or talk, of all nodes, newest first. Their runs have no logs. */
export async function listActiveCalls(
  { db }: StoreContext,
  organizationId: string,
  page: { limit: number; offset: number },
): Promise<{ calls: ActiveCall[]; total: number }> {
  if (!isRowId(organizationId)) return { calls: [], total: 0 };
  const open = db.selectFrom('runs').where('organization_id', '=', organizationId).where(isOpen());
  const count = open.select((of) => of.fn.countAll<string>().as('count'));
  const rows = await open
    .select([...LISTED_COLUMNS, 'owner_node'])
    .select((of) => [
      of
        .selectFrom('workflows')
        .select('workflows.name')
        .whereRef('workflows.id', '=', 'runs.workflow_id')
        .as('workflow_name'),
      count.as('total'),
    ])
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const isPastEnd = rows.length === 0 && page.offset > 0;
  const total = isPastEnd ? (await count.executeTakeFirstOrThrow()).count : rows[0]?.total;
  const calls = rows.map(({ owner_node: node, workflow_name: name, total: _, ...row }) => ({
    run: toRun({ ...row, logs: {} }),
    workflowName: name ?? '',
    node,
  }));
  return { calls, total: Number(total ?? 0) };
}

/** Rows of each kind in one answer. */
const FOLLOWED_MAX = 200;

/** The runs of `known`, those that have a call, and those newer than `afterId`; by age, at most two hundred of each. */
export async function runsToFollow(
  { db }: StoreContext,
  organizationId: string,
  { known, afterId }: { known: readonly string[]; afterId: string },
): Promise<FollowedRun[]> {
  if (!isRowId(organizationId)) return [];
  const runs = db
    .selectFrom('runs')
    .select(['id', 'workflow_id', 'name', 'mode', 'call_type', 'state', 'disposition'])
    .select(['created_at', 'ended_at'])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .limit(FOLLOWED_MAX);
  const ids = known.filter(isRowId);
  const found = [
    await runs.where('id', '=', (of) => of.fn.any(of.val(ids))).execute(),
    await runs.where(isOpen()).execute(),
    await runs.where('id', '>', afterId).where('is_idle', '=', false).execute(),
  ];
  const byId = new Map(found.flat().map((row) => [row.id, row]));
  return [...byId.values()]
    .sort((one, other) => Number(one.id) - Number(other.id))
    .map((row) => ({
      id: row.id,
      workflowId: row.workflow_id,
      name: row.name,
      mode: row.mode,
      callType: row.call_type,
      isCompleted: row.state === 'completed',
      disposition: row.disposition,
      createdAt: row.created_at,
      endedAt: row.ended_at,
    }));
}

/** Id of the organization's newest run; `0` if it has none. */
export async function newestRunId({ db }: StoreContext, organizationId: string): Promise<string> {
  if (!isRowId(organizationId)) return '0';
  const row = await db
    .selectFrom('runs')
    .select('id')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.id ?? '0';
}
