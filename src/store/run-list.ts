// A page of runs, filtered and sorted, and how many there are in all. The page's ids come out of an
// index that holds whatever a filter may ask for; only the runs that are shown are read.

import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Run } from '../model/run.ts';
import type { StoreContext } from './context.ts';
import type { RunFilter, RunPage, RunScope } from './run-pages.ts';
import { isOpen, toRun } from './runs.ts';
import type { Tables } from './schema.ts';
import { isRowId, jsonText } from './stored-values.ts';

/** All but the log: what is said in a call is large, and lists do not show it. */
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

/** Runs without a length (still open) stand last in both orders; ties go by age. */
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

/** False if an id in them is no row's. */
function namesRows(scope: RunScope, filter: RunFilter): boolean {
  const { organizationId, workflowId, campaignId } = scope;
  const ids = [organizationId, workflowId, campaignId];
  ids.push(filter.id, filter.workflowId, filter.campaignId);
  return ids.every((id) => id === undefined || isRowId(id));
}

type Of = ExpressionBuilder<Tables, 'runs'>;
type Condition = ExpressionWrapper<Tables, 'runs', SqlBool>;

function matches(of: Of, scope: RunScope, filter: RunFilter): Condition {
  const conditions = [of('organization_id', '=', scope.organizationId)];
  conditions.push(...idsIn(of, scope), ...idsIn(of, filter));
  if (filter.id !== undefined) conditions.push(of('id', '=', filter.id));
  return of.and([...conditions, ...ranges(of, filter), ...choices(of, filter)]);
}

function idsIn(
  of: Of,
  { workflowId, campaignId }: Pick<RunFilter, 'workflowId' | 'campaignId'>,
): Condition[] {
  return [
    ...(workflowId === undefined ? [] : [of('workflow_id', '=', workflowId)]),
    ...(campaignId === undefined ? [] : [of('campaign_id', '=', campaignId)]),
  ];
}

function ranges(of: Of, filter: RunFilter): Condition[] {
  const { createdFrom, createdTo, durationMinS, durationMaxS, tokensMin, tokensMax } = filter;
  const conditions: Condition[] = [];
  if (createdFrom !== undefined) conditions.push(of('created_at', '>=', createdFrom));
  if (createdTo !== undefined) conditions.push(of('created_at', '<=', createdTo));
  if (durationMinS !== undefined) conditions.push(of('duration_s', '>=', durationMinS));
  if (durationMaxS !== undefined) conditions.push(of('duration_s', '<=', durationMaxS));
  if (tokensMin !== undefined) conditions.push(of('tokens', '>=', tokensMin));
  if (tokensMax !== undefined) conditions.push(of('tokens', '<=', tokensMax));
  return conditions;
}

function choices(of: Of, filter: RunFilter): Condition[] {
  const { dispositions, modes, tags, direction, completed } = filter;
  const conditions: Condition[] = [];
  const oneOf = (column: 'disposition' | 'mode', values: readonly string[] | undefined): void => {
    if (values !== undefined) conditions.push(of(column, '=', of.fn.any(of.val([...values]))));
  };
  const contains = (column: 'caller_number' | 'called_number', part: string | undefined): void => {
    if (part !== undefined) {
      conditions.push(of(of.fn<number>('strpos', [column, of.val(part)]), '>', 0));
    }
  };
  oneOf('disposition', dispositions);
  oneOf('mode', modes);
  contains('caller_number', filter.callerNumber);
  contains('called_number', filter.calledNumber);
  if (direction !== undefined) conditions.push(of('call_type', '=', direction));
  if (tags !== undefined) conditions.push(of('call_tags', '@>', sql`${jsonText(tags)}::jsonb`));
  if (completed !== undefined) conditions.push(of('state', completed ? '=' : '<>', 'completed'));
  return conditions;
}
