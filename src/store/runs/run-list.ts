// One page of runs, filtered and sorted, and their total. The page's ids come from an index with all columns that a
// filter may need; only the returned runs are read. The total of an unfiltered list is stored (run-counts.ts). Where no
// index has a filter or an order, runs are searched in pieces.

import { type SelectQueryBuilder, sql } from 'kysely';
import { type Run, runFieldNames, runFields } from '../../model/run.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Tables } from '../db/tables.ts';
import { isOwned, matchesFilter, namesRows } from './run-conditions.ts';
import { countRuns, runsCounted, spansOfRuns, startOfPage } from './run-counts.ts';
import type { RunFilter, RunPage, RunScope } from './run-filters.ts';
import { isOpen, toRun } from './runs.ts';

/** All columns except the log: it is large, and lists do not show it. */
export const LISTED_COLUMNS = runFieldNames
  .map((name) => runFields[name].column)
  .filter((column) => column !== 'logs');

/** Runs that one statement searches where no index has the filter: some milliseconds. */
const LOOKED_AT_MAX = 20_000;
/** Largest offset of a page that is found by walking from the first run. Later pages begin at their day. */
const WALKED_MAX = 1_000;

/** One page of runs. Only runs that are not completed have logs. Runs without a length (still open) are last in both
 *  orders; ties are ordered by age. */
export async function listRuns(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage,
): Promise<{ runs: Run[]; total: number }> {
  const { db } = context;
  if (!namesRows(scope, page.filter)) return { runs: [], total: 0 };
  const isWhole = namesOf(page.filter).length === 0;
  const isWalked = hasIndex(scope, page);
  const near =
    isWhole && isWalked && page.offset <= WALKED_MAX
      ? await nearPage(context, scope, page)
      : undefined;
  if (near !== undefined) return near;
  if (!(await isOwned(context, scope))) return { runs: [], total: 0 };
  const parts = isWalked ? [] : await partsOf(context, scope, page);
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
          .select(LISTED_COLUMNS)
          .select(openLogs())
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

/** A page near the beginning of an unfiltered list, the most frequent request, in one statement. Undefined for a page
 *  without runs. */
async function nearPage(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage,
): Promise<{ runs: Run[]; total: number } | undefined> {
  const matching = db.selectFrom('runs').where((of) => matchesFilter(of, scope, page.filter));
  const ids = ordered(matching.select('id'), page).limit(page.limit).offset(page.offset);
  const shown = db
    .selectFrom('runs')
    .select(LISTED_COLUMNS)
    .select([openLogs(), sql<string>`(${runsCounted(scope)})`.as('total')])
    .where('id', '=', sql<string>`any(array(${ids}))`)
    // The check of `isOwned` without a statement of its own.
    .where('organization_id', '=', scope.organizationId);
  const rows = await ordered(shown, page).execute();
  const [first] = rows;
  return (
    first && { runs: rows.map(({ total: _, ...row }) => toRun(row)), total: Number(first.total) }
  );
}

/** Orders a query. Runs without a length are last in both orders; ties are ordered by age. */
function ordered<Row>(
  runs: SelectQueryBuilder<Tables, 'runs', Row>,
  { sortBy, descending }: Pick<RunPage, 'sortBy' | 'descending'>,
): SelectQueryBuilder<Tables, 'runs', Row> {
  const order = descending ? 'desc' : 'asc';
  return sortBy === 'duration'
    ? runs.orderBy('duration_s', (by) => by[order]().nullsLast()).orderBy('id', order)
    : runs.orderBy('created_at', order).orderBy('id', order);
}

function openLogs() {
  return sql<Run['logs']>`case when ${isOpen()} then logs else '{}' end`.as('logs');
}

async function idsOf(
  context: Pick<StoreContext, 'db'>,
  scope: RunScope,
  page: RunPage & { isWhole: boolean },
): Promise<string[]> {
  const { sortBy, descending, limit, offset, isWhole } = page;
  const matching = context.db
    .selectFrom('runs')
    .select('id')
    .where((of) => matchesFilter(of, scope, page.filter));
  const sorted = ordered(matching, page);
  if (sortBy === 'duration') {
    return (await sorted.limit(limit).offset(offset).execute()).map(({ id }) => id);
  }
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

/** A span of time, with the number of matching runs in it. */
interface Part {
  from: Date;
  to: Date;
  runs: number;
}

/** Counts matching runs in pieces, oldest first, so that other statements can run in between. */
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

/** The page in the order of durations: sorts the first rows of each part, as many as the end of the page. */
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

/** Compares as the database orders: runs without a length last, ties by age. */
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
