// A page of runs, filtered and sorted, and how many there are in all. The page's ids come out of an
// index that holds all that a filter may need; only the runs that are shown are read. The total of an
// unfiltered list is kept (run-counts.ts); where no index has a filter or an order, runs are looked through in pieces.

import { sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import type { StoreContext } from '../db/store-context.ts';
import { isOwned, matchesFilter, namesRows } from './run-conditions.ts';
import { countRuns, spansOfRuns, startOfPage } from './run-counts.ts';
import type { RunFilter, RunPage, RunScope } from './run-filters.ts';
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

/** Runs that are looked through in one statement where no index has the filter: some milliseconds. */
const LOOKED_AT_MAX = 20_000;
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
  const isWhole = namesOf(page.filter).length === 0;
  const parts = hasIndex(scope, page) ? [] : await partsOf(context, scope, page);
  const shown =
    parts.length === 0
      ? await idsOf(context, scope, { ...page, isWhole })
      : page.sortBy === 'duration'
        ? await longestInParts(context, scope, { ...page, parts })
        : await idsInParts(context, scope, { ...page, parts });
  const rows =
    shown.length === 0
      ? []
      : await db
          .selectFrom('runs')
          .select(SHOWN)
          .select(sql<Run['logs']>`case when ${isOpen()} then logs else '{}' end`.as('logs'))
          .where('id', '=', (of) => of.fn.any(of.val(shown)))
          .execute();
  const counted = parts.reduce((sum, { runs }) => sum + runs, 0);
  const total = isWhole
    ? await countRuns(context, scope)
    : parts.length > 0
      ? counted
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
  const matching = context.db
    .selectFrom('runs')
    .where((of) => matchesFilter(of, scope, page.filter));
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
    .where((of) => matchesFilter(of, scope, filter))
    .select((run) => run.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function namesOf(filter: RunFilter): string[] {
  return Object.entries(filter).flatMap(([name, value]) => (value === undefined ? [] : [name]));
}

/** Whether a short walk along an index finds the page. */
function hasIndex({ workflowId }: RunScope, { filter, sortBy, offset }: RunPage): boolean {
  const names = namesOf(filter);
  if (names.includes('id')) return true;
  const isOfIndex = (name: string): boolean =>
    ['dispositions', 'durationMinS', 'durationMaxS'].includes(name);
  const isOfWorkflow = workflowId !== undefined && names.every(isOfIndex);
  if (sortBy === 'duration') return isOfWorkflow;
  if (names.length === 0) return true;
  return isOfWorkflow && names.includes('dispositions') && offset <= WALKED_MAX;
}

/** A span of time, and how many runs match in it. */
interface Part {
  from: Date;
  to: Date;
  runs: number;
}

/** Counts in pieces, so that others have their turn at the database. Oldest first. */
async function partsOf(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  { filter }: RunPage,
): Promise<Part[]> {
  const wanted = { from: filter.createdFrom, to: filter.createdTo, runs: LOOKED_AT_MAX };
  const parts: Part[] = [];
  for (const { from, to } of await spansOfRuns(context, scope, wanted)) {
    const { count } = await within(context, scope, filter, { from, to })
      .select((run) => run.fn.countAll<string>().as('count'))
      .executeTakeFirstOrThrow();
    parts.push({ from, to, runs: Number(count) });
  }
  return parts;
}

async function idsInParts(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage & { parts: readonly Part[] },
): Promise<string[]> {
  const { filter, descending, limit, offset, parts } = page;
  const order = descending ? 'desc' : 'asc';
  const ids: string[] = [];
  let skipped = offset;
  for (const part of descending ? parts.toReversed() : parts) {
    if (ids.length >= limit) break;
    if (skipped >= part.runs) {
      skipped -= part.runs;
      continue;
    }
    const found = await within(context, scope, filter, part)
      .select('id')
      .orderBy('created_at', order)
      .orderBy('id', order)
      .limit(limit - ids.length)
      .offset(skipped)
      .execute();
    ids.push(...found.map(({ id }) => id));
    skipped = 0;
  }
  return ids;
}

/** Of each part the first rows, as many as the page ends at; of these the page. */
async function longestInParts(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage & { parts: readonly Part[] },
): Promise<string[]> {
  const { filter, descending, limit, offset, parts } = page;
  const order = descending ? 'desc' : 'asc';
  let first: Timed[] = [];
  for (const part of parts) {
    const found = await within(context, scope, filter, part)
      .select(['id', 'duration_s'])
      .orderBy('duration_s', (by) => by[order]().nullsLast())
      .orderBy('id', order)
      .limit(offset + limit)
      .execute();
    first = [...first, ...found]
      .sort((one, other) => byDuration(one, other, descending ? -1 : 1))
      .slice(0, offset + limit);
  }
  return first.slice(offset).map(({ id }) => id);
}

interface Timed {
  id: string;
  duration_s: number | null;
}

/** As the database orders them: none last, ties by age. */
function byDuration(one: Timed, other: Timed, sign: 1 | -1): number {
  if ((one.duration_s === null) !== (other.duration_s === null)) {
    return one.duration_s === null ? 1 : -1;
  }
  const longer = (one.duration_s ?? 0) - (other.duration_s ?? 0);
  return sign * (longer === 0 ? Number(one.id) - Number(other.id) : longer);
}

function within(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
  filter: RunFilter,
  { from, to }: Pick<Part, 'from' | 'to'>,
) {
  return db
    .selectFrom('runs')
    .where((of) => matchesFilter(of, scope, filter))
    .where('created_at', '>=', from)
    .where('created_at', '<', to);
}
