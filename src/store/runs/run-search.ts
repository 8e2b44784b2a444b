// A page of all runs of an organization, newest first, from a position on: for lists of any length, each page of which
// costs the same. One statement walks an index by age and looks at a limited number of rows, so that a filter that no
// run meets costs no more than others; where it stopped, the next page goes on.

import { expressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { attentionReason } from '../../model/run-summary.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Tables } from '../db/tables.ts';
import { isOwned, matchesFilter, namesRows } from './run-conditions.ts';
import type { FoundRun, RunFilter, RunPosition, RunScope, RunSearch } from './run-filters.ts';
import { LISTED_COLUMNS } from './run-list.ts';
import { hasWords } from './run-summaries.ts';
import { toRun } from './runs.ts';

/** Runs that one page looks at in an index with the columns of the filters, and where each costs a look into two
 *  tables: some 20 ms each. */
const LOOKED_AT_MAX = 20_000;
const SUMMARIES_LOOKED_AT_MAX = 2_000;

/** Columns of the indexes by age that filters read. */
const FILTERED_COLUMNS = sql.raw(
  `id, created_at, state, call_type, mode, disposition, duration_s, caller_number, called_number`,
);
const NEWEST_FIRST = sql.raw('order by created_at desc, id desc');

/** Finds runs. `next` is where the following page begins: after the last run, or where the search stopped, perhaps
 *  without having found any; undefined after the oldest run. */
export async function searchRuns(
  context: Pick<StoreContext, 'db'>,
  organizationId: string,
  search: RunSearch,
): Promise<{ runs: FoundRun[]; next: RunPosition | undefined }> {
  const scope = scopeOf(organizationId, search.filter);
  const nothing = { runs: [], next: undefined };
  if (!namesRows(scope, search.filter)) return nothing;
  if (!(await isOwned(context, scope))) return nothing;
  const looked = lookedAt(scope, search);
  if (looked === undefined) return nothing;
  const found = await positionsOf(
    context,
    sql`select id, created_at from ${looked.rows} as runs
      where ${conditionOf(scope, search.filter)} ${NEWEST_FIRST} limit ${search.limit}`,
  );
  const runs = await readRuns(context, found);
  if (found.length === search.limit) return { runs, next: found.at(-1) };
  const [stopped] = await positionsOf(
    context,
    sql`select id, created_at from ${looked.rows} as runs ${NEWEST_FIRST}
      offset ${looked.max - 1} limit 1`,
  );
  return { runs, next: stopped };
}

/** The narrowest scope with an index by age. */
function scopeOf(organizationId: string, { campaignId, workflowId }: RunFilter): RunScope {
  if (campaignId !== undefined) return { organizationId, campaignId };
  return workflowId === undefined ? { organizationId } : { organizationId, workflowId };
}

/** The condition on the rows that are looked at, which are those of the scope already. */
function conditionOf(scope: RunScope, filter: RunFilter): RawBuilder<SqlBool> {
  const { campaignId: _, workflowId, createdFrom: __, createdTo: ___, ...rest } = filter;
  const isLeft = workflowId !== undefined && scope.workflowId === undefined;
  const of = expressionBuilder<Tables, 'runs'>();
  const { organizationId } = scope;
  // Without an agent or a campaign the condition would name the organization.
  const inScope = scope.campaignId ?? scope.workflowId;
  const condition = matchesFilter(
    of,
    inScope === undefined ? { organizationId } : scope,
    isLeft ? { ...rest, workflowId } : rest,
  );
  return sql<SqlBool>`${condition}`;
}

interface LookedAt {
  /** A query of at most `max` rows, newest first. */
  rows: RawBuilder<unknown>;
  max: number;
}

/** The rows that the page looks at; undefined for a text without words, which no run has. */
function lookedAt(scope: RunScope, search: RunSearch): LookedAt | undefined {
  if (search.needsAttention || search.text !== undefined) return lookedAtSummaries(scope, search);
  const { organizationId, workflowId, campaignId } = scope;
  const isOfScope =
    campaignId !== undefined
      ? sql`campaign_id = ${campaignId}`
      : workflowId !== undefined
        ? sql`workflow_id = ${workflowId}`
        : sql`organization_id = ${organizationId}`;
  const max = LOOKED_AT_MAX;
  const rows = sql`(select ${FILTERED_COLUMNS}, organization_id, workflow_id, campaign_id from runs
    where ${isOfScope} ${spanOf(search, 'id')} ${NEWEST_FIRST} limit ${max})`;
  return { rows, max };
}

/** Runs by their summaries: an index has those that need attention, another one those with a word. */
function lookedAtSummaries(scope: RunScope, search: RunSearch): LookedAt | undefined {
  const max = SUMMARIES_LOOKED_AT_MAX;
  const words = search.text === undefined ? sql<SqlBool>`true` : hasWords(search.text);
  if (words === undefined) return undefined;
  const attention = search.needsAttention ? sql`and attention is not null` : sql``;
  const { organizationId } = scope;
  const rows = sql`(select runs.* from (
      select run_id from run_summaries
      where organization_id = ${organizationId} and ${words} ${attention} ${spanOf(search, 'run_id')}
      order by created_at desc, run_id desc limit ${max}
    ) as summaries join runs on runs.id = summaries.run_id
    ${NEWEST_FIRST})`;
  return { rows, max };
}

/** Conditions for the span of time and for what comes after the position. */
function spanOf({ filter, after }: RunSearch, id: 'id' | 'run_id'): RawBuilder<unknown> {
  const { createdFrom: from, createdTo: to } = filter;
  const parts: RawBuilder<unknown>[] = [];
  if (from !== undefined) parts.push(sql`and created_at >= ${from}`);
  if (to !== undefined) parts.push(sql`and created_at <= ${to}`);
  if (after !== undefined) {
    const at = sql`timestamptz 'epoch' + ${after.createdAtUs}::bigint * interval '1 microsecond'`;
    parts.push(sql`and (created_at, ${sql.ref(id)}) < (${at}, ${after.id}::bigint)`);
  }
  return parts.length === 0 ? sql`` : sql.join(parts, sql` `);
}

async function positionsOf(
  { db }: Pick<StoreContext, 'db'>,
  rows: RawBuilder<unknown>,
): Promise<RunPosition[]> {
  const found = await sql<{ id: string; us: string }>`
    select id, (extract(epoch from created_at) * 1000000)::bigint as us from (${rows}) as found
    ${NEWEST_FIRST}`.execute(db);
  return found.rows.map(({ id, us }) => ({ id, createdAtUs: us }));
}

/** The runs, without logs, in the order of the positions. */
async function readRuns(
  { db }: Pick<StoreContext, 'db'>,
  positions: readonly RunPosition[],
): Promise<FoundRun[]> {
  if (positions.length === 0) return [];
  const ids = positions.map(({ id }) => id);
  const rows = await db
    .selectFrom('runs')
    .leftJoin('run_summaries', 'run_summaries.run_id', 'runs.id')
    .innerJoin('workflows', 'workflows.id', 'runs.workflow_id')
    .select(LISTED_COLUMNS.map((column) => `runs.${column}` as const))
    .select(['owner_node', 'workflows.name as workflow_name', 'run_id', 'attention', 'faults'])
    .select(['answer_p50_ms', 'answer_p95_ms', 'answer_max_ms', 'ended_by'])
    .where('runs.id', '=', (of) => of.fn.any(of.val(ids)))
    .execute();
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = byId.get(id);
    if (row === undefined) return [];
    const { answer_p50_ms: p50Ms, answer_p95_ms: p95Ms, answer_max_ms: maxMs } = row;
    const hasAnswers = p50Ms !== null && p95Ms !== null && maxMs !== null;
    const known = row.attention ?? [];
    const summary = {
      attention: attentionReason.options.filter((reason) => known.includes(reason)),
      faults: row.faults ?? 0,
      answers: hasAnswers ? { p50Ms, p95Ms, maxMs } : null,
      endedBy: row.ended_by,
    };
    return [
      {
        run: toRun({ ...row, logs: {} }),
        workflowName: row.workflow_name,
        node: row.owner_node,
        summary: row.run_id === null ? null : summary,
      },
    ];
  });
}
