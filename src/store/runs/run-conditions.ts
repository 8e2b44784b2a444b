// Scopes and filters of runs as SQL conditions, on columns of the indexes of migrations/007, so that totals and sums
// read no run.

import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { Tables } from '../db/tables.ts';
import type { RunFilter, RunScope } from './run-filters.ts';

/** Whether all their ids are valid. If not, nothing matches, and no statement is needed. */
export function namesRows(scope: RunScope, filter: RunFilter): boolean {
  const { organizationId, workflowId, campaignId } = scope;
  const ids = [organizationId, workflowId, campaignId];
  ids.push(filter.id, filter.workflowId, filter.campaignId);
  return ids.every((id) => id === undefined || isRowId(id));
}

/** Whether the scope's agent or campaign belongs to the organization, which the indexes of their runs do not
 *  contain. */
export async function isOwned(
  { db }: Pick<StoreContext, 'db'>,
  { organizationId, workflowId, campaignId }: RunScope,
): Promise<boolean> {
  const isOf = (table: 'workflows' | 'campaigns', id: string | undefined) =>
    id === undefined
      ? sql<boolean>`true`
      : sql<boolean>`exists (select from ${sql.table(table)}
          where id = ${id} and organization_id = ${organizationId})`;
  if (workflowId === undefined && campaignId === undefined) return true;
  const { rows } = await sql<{ owned: boolean }>`
    select ${isOf('workflows', workflowId)} and ${isOf('campaigns', campaignId)} as owned`.execute(
    db,
  );
  return rows[0]?.owned ?? false;
}

type Of = ExpressionBuilder<Tables, 'runs'>;
type Condition = ExpressionWrapper<Tables, 'runs', SqlBool>;

/** Condition for scope and filter. `isOwned` must have checked the organization of an agent or campaign. */
export function matchesFilter(of: Of, scope: RunScope, filter: RunFilter): Condition {
  const { organizationId, workflowId, campaignId } = scope;
  const isWide = workflowId === undefined && campaignId === undefined;
  const conditions = isWide ? [of('organization_id', '=', organizationId)] : [];
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
  const { dispositions, modes, tags, direction, completed, state, number } = filter;
  const conditions: Condition[] = [];
  const oneOf = (column: 'disposition' | 'mode', values: readonly string[] | undefined): void => {
    const [only] = values ?? [];
    // With a single value the index keeps its order.
    if (values?.length === 1 && only !== undefined) conditions.push(of(column, '=', only));
    else if (values !== undefined) {
      conditions.push(of(column, '=', of.fn.any(of.val([...values]))));
    }
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
  if (state !== undefined) conditions.push(of('state', '=', state));
  if (number !== undefined) {
    const endsSo = (column: 'caller_number' | 'called_number') =>
      of(of.fn<string>('right', [column, sql`${number.length}::integer`]), '=', number);
    conditions.push(of.or([endsSo('caller_number'), endsSo('called_number')]));
  }
  return conditions;
}
