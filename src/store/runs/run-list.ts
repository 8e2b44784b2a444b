// A page of runs, filtered and sorted, and their total. The page's ids come from an index that covers all filters;
// only the runs of the page are read.

import { sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import type { StoreContext } from '../db/store-context.ts';
import { matches, namesRows } from './run-conditions.ts';
import type { RunPage, RunScope } from './run-filters.ts';
import { isOpen, toRun } from './runs.ts';

/** Everything except the log: it is large, and lists do not show it. */
const SHOWN = [
  'id',
  'organization_id',
  'workflow_id',
  'definition_id',
  'name',
  'mode',
  'call_type',
  'state',
  'configuration_id',
  'campaign_id',
  'provider_call_id',
  'initial_context',
  'gathered_context',
  'usage_info',
  'cost_info',
  'annotations',
  'disposition',
  'duration_s',
  'recording_key',
  'transcript_key',
  'public_access_token',
  'created_at',
  'started_at',
  'ended_at',
] as const;

/** Logs are included for runs that are not completed. Runs without a duration (still open) are last in both
 *  orders; ties are ordered by age. */
export async function listRuns(
  { db }: StoreContext,
  scope: RunScope,
  page: RunPage,
): Promise<{ runs: Run[]; total: number }> {
  if (!namesRows(scope, page.filter)) return { runs: [], total: 0 };
  const matching = db.selectFrom('runs').where((of) => matches(of, scope, page.filter));
  const order = page.descending ? 'desc' : 'asc';
  const sorted =
    page.sortBy === 'duration'
      ? matching.orderBy('duration_s', (by) => by[order]().nullsLast())
      : matching.orderBy('created_at', order);
  const ids = sorted.orderBy('id', order).select('id').limit(page.limit).offset(page.offset);
  const shown = await ids.execute();
  const rows =
    shown.length === 0
      ? []
      : await db
          .selectFrom('runs')
          .select(SHOWN)
          .select(sql<Run['logs']>`case when ${isOpen()} then logs else '{}' end`.as('logs'))
          .where('id', '=', (of) => of.fn.any(of.val(shown.map(({ id }) => id))))
          .execute();
  const { count } = await matching
    .select((run) => run.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  const byId = new Map(rows.map((row) => [row.id, toRun(row)]));
  const runs = shown.flatMap(({ id }) => byId.get(id) ?? []);
  return { runs, total: Number(count) };
}
