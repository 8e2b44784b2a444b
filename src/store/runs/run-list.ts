// A page of runs, filtered and sorted, and how many there are in all. The page's ids come out of an
// index that holds whatever a filter may ask for; only the runs that are shown are read. The total of an
// unfiltered list is kept (run-counts.ts).

import { sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import type { StoreContext } from '../db/store-context.ts';
import { isOwned, matches, namesRows } from './run-conditions.ts';
import { countRuns, startOfPage } from './run-counts.ts';
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

/** Up to here a page is found by walking from the first run; the others begin at their day. */
const WALKED_MAX = 1_000;

/** Logs come with runs that are not completed. Runs without a length (still open) are last in both orders; ties go
 *  by age. */
export async function listRuns(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage,
): Promise<{ runs: Run[]; total: number }> {
  const { db } = context;
  if (!namesRows(scope, page.filter) || !(await isOwned(context, scope))) {
    return { runs: [], total: 0 };
  }
  const isWhole = Object.values(page.filter).every((each) => each === undefined);
  const shown = await idsOf(context, scope, { ...page, isWhole });
  const rows =
    shown.length === 0
      ? []
      : await db
          .selectFrom('runs')
          .select(SHOWN)
          .select(sql<Run['logs']>`case when ${isOpen()} then logs else '{}' end`.as('logs'))
          .where('id', '=', (of) => of.fn.any(of.val(shown)))
          .execute();
  const total = isWhole
    ? await countRuns(context, scope)
    : await countMatching(context, scope, page);
  const byId = new Map(rows.map((row) => [row.id, toRun(row)]));
  return { runs: shown.flatMap((id) => byId.get(id) ?? []), total };
}

async function idsOf(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage & { isWhole: boolean },
): Promise<string[]> {
  const { sortBy, descending, limit, offset, isWhole } = page;
  const order = descending ? 'desc' : 'asc';
  const matching = context.db.selectFrom('runs').where((of) => matches(of, scope, page.filter));
  if (sortBy === 'duration') {
    const sorted = matching
      .orderBy('duration_s', (by) => by[order]().nullsLast())
      .orderBy('id', order);
    return (await sorted.select('id').limit(limit).offset(offset).execute()).map(({ id }) => id);
  }
  const sorted = matching.orderBy('created_at', order).orderBy('id', order).select('id');
  const isFar = isWhole && offset > WALKED_MAX;
  const start = isFar ? await startOfPage(context, scope, { offset, descending }) : undefined;
  if (isFar && start === undefined) return [];
  const from =
    start === undefined
      ? sorted.offset(offset)
      : descending
        ? sorted.where('created_at', '<', start.before).offset(start.skipped)
        : sorted.where('created_at', '>=', start.from).offset(start.skipped);
  return (await from.limit(limit).execute()).map(({ id }) => id);
}

async function countMatching(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
  { filter }: RunPage,
): Promise<number> {
  const { count } = await db
    .selectFrom('runs')
    .where((of) => matches(of, scope, filter))
    .select((run) => run.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
