// Counts of runs by agent, campaign and day, which triggers maintain (migrations/017), so that a total reads no run. A
// page far back begins at its day, not at the newest run.

import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { StoreContext } from '../db/store-context.ts';
import type { RunScope } from './run-filters.ts';

/** Number of runs in the scope. */
export async function countRuns(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
): Promise<number> {
  const { rows } = await runsCounted(scope).execute(db);
  return Number(rows[0]?.runs ?? 0);
}

/** The count as a part of another statement: one row with `runs`. */
export function runsCounted(scope: RunScope): RawBuilder<{ runs: string }> {
  return sql`
    select coalesce(sum(runs), 0) as runs from run_counts
    where ${isOf(scope)} and day = '-infinity'`;
}

/** Start of a page: its day, and the number of that day's runs before it. */
export interface PageStart {
  from: Date;
  before: Date;
  skipped: number;
}

/** Day of the run with `offset` others before it; undefined if there are not so many. */
export async function startOfPage(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
  { offset, descending }: { offset: number; descending: boolean },
): Promise<PageStart | undefined> {
  const order = sql.raw(descending ? 'desc' : 'asc');
  const { rows } = await sql<{ from: Date; before: Date; skipped: string }>`
    select day::timestamp at time zone 'UTC' as from, (day + 1)::timestamp at time zone 'UTC' as before,
      ${offset} - (reached - runs) as skipped
    from (
      select day, sum(runs) as runs, sum(sum(runs)) over (order by day ${order}) as reached
      from run_counts where ${isOf(scope)} and day <> '-infinity' group by day
    ) as days
    where reached > ${offset} order by day ${order} limit 1`.execute(db);
  const [row] = rows;
  return row && { ...row, skipped: Number(row.skipped) };
}

/** Consecutive spans with all runs of the scope between `from` and `to`, oldest first. Each has about `runs` runs at
 *  most, or is one day. */
export async function spansOfRuns(
  { db }: Pick<StoreContext, 'db'>,
  scope: RunScope,
  { from, to, runs: runsMax }: { from: Date | undefined; to: Date | undefined; runs: number },
): Promise<{ from: Date; to: Date }[]> {
  const { rows } = await sql<{ from: Date; to: Date }>`
    select min(day)::timestamp at time zone 'UTC' as from,
      (max(day) + 1)::timestamp at time zone 'UTC' as to
    from (
      select day, floor((sum(sum(runs)) over (order by day) - 1) / ${runsMax}) as part
      from run_counts where ${isOf(scope)} and day <> '-infinity' and runs > 0
        and day >= coalesce((${from ?? null}::timestamptz at time zone 'UTC')::date, '-infinity')
        and day <= coalesce((${to ?? null}::timestamptz at time zone 'UTC')::date, 'infinity')
      group by day
    ) as days
    group by part order by part`.execute(db);
  return rows;
}

/** Recounts one agent's runs of one day. True if the stored counts were wrong, and are corrected. */
export async function recountDay(
  { db }: Pick<StoreContext, 'db'>,
  workflowId: string,
  day: string,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // From here on no other process counts a run of the agent.
    await sql`
      select from run_counts where workflow_id = ${workflowId} and day = '-infinity'
      order by campaign_id for update`.execute(tx);
    const days = await sql`
      with stored as (
        select organization_id, coalesce(campaign_id, 0) as campaign_id, count(*) as runs from runs
        where workflow_id = ${workflowId}
          and created_at >= ${day}::date::timestamp at time zone 'UTC'
          and created_at < (${day}::date + 1)::timestamp at time zone 'UTC'
        group by 1, 2
      ), kept as (
        select organization_id, campaign_id from run_counts
        where workflow_id = ${workflowId} and day = ${day}
      )
      insert into run_counts as counts (organization_id, workflow_id, campaign_id, day, runs)
      select coalesce(stored.organization_id, kept.organization_id), ${workflowId}::bigint,
        campaign_id, ${day}::date, coalesce(stored.runs, 0)
      from stored full join kept using (campaign_id) order by campaign_id
      on conflict (workflow_id, campaign_id, day) do update set runs = excluded.runs
        where counts.runs <> excluded.runs
      returning day`.execute(tx);
    const totals = await sql`
      insert into run_counts as counts (organization_id, workflow_id, campaign_id, day, runs)
      select organization_id, workflow_id, campaign_id, '-infinity', sum(runs) from run_counts
      where workflow_id = ${workflowId} and day <> '-infinity'
      group by 1, 2, 3 order by campaign_id
      on conflict (workflow_id, campaign_id, day) do update set runs = excluded.runs
        where counts.runs <> excluded.runs
      returning day`.execute(tx);
    return days.rows.length + totals.rows.length > 0;
  });
}

/** The day of an agent's runs after this one, also of an agent without stored counts; undefined after the last one. */
export async function dayToRecount(
  { db }: Pick<StoreContext, 'db'>,
  after: RecountedDay | undefined,
): Promise<RecountedDay | undefined> {
  const { workflowId = '0', day = '-infinity' } = after ?? {};
  const { rows } = await sql<RecountedDay>`
    select workflow_id as "workflowId", day::text as day from (
      (select workflow_id, day from run_counts
        where (workflow_id, day) > (${workflowId}, ${day}::date) and day <> '-infinity'
        order by workflow_id, day limit 1)
      union all
      (select workflow_id, (created_at at time zone 'UTC')::date from runs
        where workflow_id = ${workflowId}
          and created_at >= (${day}::date + 1)::timestamp at time zone 'UTC'
        order by created_at limit 1)
      union all
      (select id, first.day from workflows, lateral (
          select (created_at at time zone 'UTC')::date as day from runs
          where workflow_id = workflows.id order by created_at limit 1
        ) as first
        where id > ${workflowId} order by id limit 1)
    ) as next order by workflow_id, day limit 1`.execute(db);
  return rows[0];
}

export interface RecountedDay {
  workflowId: string;
  /** Day in UTC: `2026-01-31`. */
  day: string;
}

function isOf({ organizationId, workflowId, campaignId }: RunScope): RawBuilder<SqlBool> {
  const conditions = [sql<SqlBool>`organization_id = ${organizationId}`];
  if (workflowId !== undefined) conditions.push(sql<SqlBool>`workflow_id = ${workflowId}`);
  if (campaignId !== undefined) conditions.push(sql<SqlBool>`campaign_id = ${campaignId}`);
  return sql.join(conditions, sql` and `);
}
