// Report routes: an agent's calls as CSV, and the figures of a day. Source: contract §9.11.

import { z } from 'zod';
import { transferDispositions } from '../../model/end-reason.ts';
import { dayAfter, isDay, isTimeZone, startOfDay } from '../../std/calendar-day.ts';
import { type DayOfCalls, LENGTHS_S, type ReportRow, type Span } from '../../store/runs/reports.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { workflowIdInPath } from '../http/path-parameters.ts';
import { idIn, isoTime } from '../http/values.ts';
import { workflowOf } from '../workflows/workflow-mapping.ts';
import { filterOf, reportOut, reportQuery, sendReport } from './run-report.ts';
import { type DailyReportOut, dailyReport, dailyRun, workflowOption } from './usage-schema.ts';

const common = { tags: ['runs'], security: keyRequired };
/** Calls of one day that are listed; the CSV report has all of them. */
const RUNS_MAX = 5_000;
/** Days for which reports exist. At the ends of the calendar a time zone's day is incomplete. */
const DAYS = { first: '1970-01-01', last: '2999-12-31' } as const;

const dayQuery = z.object({
  date: z
    .string()
    .max(20)
    .refine(isReportDay, {
      error: `Input should be a valid date from ${DAYS.first} to ${DAYS.last}`,
    })
    .meta({
      description: 'The day, `YYYY-MM-DD`, from 1970-01-01 to 2999-12-31.',
      examples: ['2026-05-01'],
    }),
  timezone: z
    .string()
    .max(64)
    .refine(isTimeZone, { error: 'Input should be a time zone of the IANA database' })
    .meta({
      description: 'The time zone in which the day begins and ends, by its IANA name.',
      examples: ['Europe/Oslo'],
    }),
  workflow_id: idIn.optional().describe('Only calls of this agent, by its `id`. Default: all.'),
});
type DayQuery = z.infer<typeof dayQuery>;

export function reportRoutes(api: Api, deps: ApiDeps): void {
  csvRoute(api, deps);
  dayRoutes(api, deps);
}

function csvRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/report',
    {
      schema: {
        ...common,
        operationId: 'downloadWorkflowReport',
        summary: 'Download the report of an agent',
        description: "An agent's calls as CSV.",
        params: z.object({ workflow_id: workflowIdInPath }),
        querystring: reportQuery,
        response: { 200: reportOut, ...faults('WORKFLOW_NOT_FOUND') },
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = await workflowOf(deps, organizationId, request.params.workflow_id);
      const scope = { organizationId, workflowId: id };
      const filter = filterOf(request.query);
      return sendReport(deps, reply, { scope, filter, name: `workflow_${id}_report` });
    },
  );
}

function dayRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/reports/daily',
    {
      schema: {
        ...common,
        operationId: 'getDailyReport',
        summary: 'Get the daily report',
        description: 'How the calls of a day went and how long they were.',
        querystring: dayQuery,
        response: { 200: dailyReport, ...faults('WORKFLOW_NOT_FOUND') },
      },
    },
    async (request) => {
      const { date, timezone } = request.query;
      const { organizationId } = principalOf(request);
      const scope = await scopeOf(deps, organizationId, request.query);
      const day = await deps.store.reports.day(scope, spanOf(request.query));
      return { date, timezone, workflow_id: scope.workflowId ?? null, ...dailyReportOf(day) };
    },
  );

  api.get(
    '/organizations/reports/workflows',
    {
      schema: {
        ...common,
        operationId: 'listReportWorkflows',
        summary: 'List agents for reports',
        description: 'The agents that a report can be about.',
        response: {
          200: z.array(workflowOption).describe('Ids and names of agents.'),
          ...faults(),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const all = await deps.store.workflows.list(organizationId, ['active', 'archived']);
      return all.map(({ id, name }) => ({ id, name }));
    },
  );

  api.get(
    '/organizations/reports/daily/runs',
    {
      schema: {
        ...common,
        operationId: 'listDailyRuns',
        summary: 'List the runs of a day',
        description: `The calls of a day, newest first; at most ${RUNS_MAX}.`,
        querystring: dayQuery,
        response: {
          200: z.array(dailyRun).describe('Calls of the day, at most 5,000.'),
          ...faults('WORKFLOW_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const rows = await rowsOfDay(deps, organizationId, request.query);
      const ids = [...new Set(rows.map(({ workflowId }) => workflowId))];
      const names = await deps.store.reports.workflowNames(organizationId, ids);
      return rows.map((row) => ({
        phone_number: row.phoneNumber ?? '',
        disposition: row.disposition ?? 'unknown',
        duration_seconds: row.durationS,
        workflow_id: row.workflowId,
        run_id: row.id,
        workflow_name: names.get(row.workflowId) ?? '',
        created_at: isoTime(row.createdAt),
      }));
    },
  );
}

function isReportDay(text: string): boolean {
  return isDay(text) && text >= DAYS.first && text <= DAYS.last;
}

/** Throws WORKFLOW_NOT_FOUND. */
async function scopeOf(deps: ApiDeps, organizationId: string, { workflow_id: id }: DayQuery) {
  if (id === undefined) return { organizationId };
  return { organizationId, workflowId: (await workflowOf(deps, organizationId, id)).id };
}

function spanOf({ date, timezone }: DayQuery): Span {
  return {
    from: new Date(startOfDay(date, timezone)),
    to: new Date(startOfDay(dayAfter(date, 1), timezone)),
  };
}

async function rowsOfDay(
  deps: ApiDeps,
  organizationId: string,
  query: DayQuery,
): Promise<ReportRow[]> {
  const scope = await scopeOf(deps, organizationId, query);
  const { from, to } = spanOf(query);
  const filter = { createdFrom: from, createdTo: new Date(to.getTime() - 1) };
  const rows: ReportRow[] = [];
  let page = await deps.store.reports.rows(scope, filter, undefined);
  while (page.length > 0 && rows.length < RUNS_MAX) {
    rows.push(...page);
    page = await deps.store.reports.rows(scope, filter, page.at(-1));
  }
  return rows.slice(0, RUNS_MAX);
}

/** Dispositions with a line of their own. */
const SHOWN_MAX = 5;

type Distributions = Pick<
  DailyReportOut,
  'metrics' | 'disposition_distribution' | 'call_duration_distribution'
>;

function dailyReportOf({ calls, dispositions, lengths }: DayOfCalls): Distributions {
  const percentage = (count: number): number =>
    calls === 0 ? 0 : Math.round((count / calls) * 10_000) / 100;
  const shown = dispositions.slice(0, SHOWN_MAX).map(({ disposition, calls: count }) => ({
    disposition,
    count,
    percentage: percentage(count),
  }));
  const other = calls - shown.reduce((sum, { count }) => sum + count, 0);
  const transferred = dispositions.filter(({ disposition }) =>
    transferDispositions.has(disposition),
  );
  return {
    metrics: {
      total_runs: calls,
      xfer_count: transferred.reduce((sum, each) => sum + each.calls, 0),
    },
    disposition_distribution:
      other === 0
        ? shown
        : [...shown, { disposition: 'Other', count: other, percentage: percentage(other) }],
    call_duration_distribution: lengths.map((count, i) => ({
      ...rangeOf(i),
      count,
      percentage: percentage(count),
    })),
  };
}

function rangeOf(i: number) {
  const start = LENGTHS_S[i - 1] ?? 0;
  const end = LENGTHS_S[i] ?? null;
  return {
    bucket: end === null ? `>${start}` : `${start}-${end}`,
    range_start: start,
    range_end: end,
  };
}
