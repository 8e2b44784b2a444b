// A page of a workflow's runs, filtered and sorted, and how many there are in all. Each order has its
// index: a page of a hundred thousand runs costs what it shows, the total one walk over an index.

import { type ExpressionBuilder, type ExpressionWrapper, type SqlBool, sql } from 'kysely';
import type { Run } from '../model/run.ts';
import type { StoreContext } from './context.ts';
import { isOpen, toRun } from './runs.ts';
import type { Tables } from './schema.ts';
import type { RunFilter, RunPage } from './store.ts';
import { isRowId } from './stored-values.ts';

/** Runs without a length (still open) stand last in both orders; ties go by age. */
export async function listRuns(
  { db }: StoreContext,
  workflowId: string,
  page: RunPage,
): Promise<{ runs: Run[]; total: number }> {
  if (!isRowId(workflowId)) return { runs: [], total: 0 };
  const matching = db.selectFrom('runs').where((of) => matches(of, workflowId, page.filter));
  const order = page.descending ? 'desc' : 'asc';
  const sorted =
    page.sortBy === 'duration'
      ? matching.orderBy('duration_s', (by) => by[order]().nullsLast())
      : matching.orderBy('created_at', order);
  const rows = await sorted
    .orderBy('id', order)
    .selectAll()
    .limit(page.limit)
    .offset(page.offset)
    .execute();
  const { count } = await matching
    .select((run) => run.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  return { runs: rows.map(toRun), total: Number(count) };
}

function matches(
  of: ExpressionBuilder<Tables, 'runs'>,
  workflowId: string,
  filter: RunFilter,
): ExpressionWrapper<Tables, 'runs', SqlBool> {
  const { createdFrom, createdTo, dispositions, durationMinS, durationMaxS } = filter;
  const conditions = [of('workflow_id', '=', workflowId)];
  if (createdFrom !== undefined) conditions.push(of('created_at', '>=', createdFrom));
  if (createdTo !== undefined) conditions.push(of('created_at', '<=', createdTo));
  if (dispositions !== undefined) {
    conditions.push(of('disposition', '=', of.fn.any(of.val([...dispositions]))));
  }
  if (durationMinS !== undefined) conditions.push(of('duration_s', '>=', durationMinS));
  if (durationMaxS !== undefined) conditions.push(of('duration_s', '<=', durationMaxS));
  const all = of.and(conditions);
  if (filter.completed === undefined) return all;
  return of.and([all, filter.completed ? sql<SqlBool>`state = 'completed'` : isOpen()]);
}
