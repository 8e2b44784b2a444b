// Usage routes of an organization's calls: by run, as a table, in the current month, by day. Source: contract §6.2; the
// reference platform's usage shapes.

import { z } from 'zod';
import type { Run } from '../../model/run.ts';
import { dayAfter, dayAt, startOfDay } from '../../std/calendar-day.ts';
import type { RunFilter } from '../../store/runs/run-filters.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { isoTime, queryInteger } from '../http/values.ts';
import { filtersParameter } from '../runs/run-filter-parameter.ts';
import { parseFilters } from '../runs/run-filter-query.ts';
import { runListItem } from '../runs/run-mapping.ts';
import { pageFacts, runPageQuery, storePage } from '../runs/run-pages.ts';
import { filterOf, reportOut, reportQuery, sendReport } from './run-report.ts';
import { currentUsage, dailyUsage, type UsageRunOut, usageHistory } from './usage-schema.ts';

const common = { tags: ['runs'], security: keyRequired };
const MINUTE_S = 60;

const usageQuery = runPageQuery.extend({
  filters: filtersParameter('organization'),
  start_date: reportQuery.shape.start_date,
  end_date: reportQuery.shape.end_date,
});
const usageReportQuery = usageQuery.pick({ start_date: true, end_date: true, filters: true });

export function usageRoutes(api: Api, deps: ApiDeps): void {
  historyRoutes(api, deps);
  currentUsageRoute(api, deps);
  dailyUsageRoute(api, deps);
}

function historyRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/usage/runs',
    {
      schema: {
        ...common,
        operationId: 'listUsageRuns',
        summary: 'List usage',
        description:
          "All of the organization's runs, filtered and sorted, by pages, with their sums.",
        querystring: usageQuery,
        response: {
          200: usageHistory,
          ...faults('FILTER_INVALID', 'FILTER_FORBIDDEN', 'PAGE_TOO_FAR'),
        },
      },
    },
    async (request) => {
      const scope = { organizationId: principalOf(request).organizationId };
      const filter = usageFilter(request.query);
      const { runs, total } = await deps.store.runs.list(scope, storePage(request.query, filter));
      const { durationS, tokens } = await deps.store.reports.sums(scope, filter);
      return {
        runs: await usageRuns(deps, scope.organizationId, runs),
        total_dograh_tokens: tokens,
        total_duration_seconds: Math.round(durationS),
        ...pageFacts(request.query, total),
      };
    },
  );

  api.get(
    '/organizations/usage/runs/report',
    {
      schema: {
        ...common,
        operationId: 'downloadUsageReport',
        summary: 'Download the usage report',
        description: "All of the organization's calls as CSV.",
        querystring: usageReportQuery,
        response: { 200: reportOut, ...faults('FILTER_INVALID', 'FILTER_FORBIDDEN') },
      },
    },
    async (request, reply) => {
      const scope = { organizationId: principalOf(request).organizationId };
      const filter = usageFilter(request.query);
      return sendReport(deps, reply, { scope, filter, name: 'usage_runs_report' });
    },
  );
}

function usageFilter(query: z.infer<typeof usageReportQuery>): RunFilter {
  return { ...parseFilters(query.filters, 'organization').filter, ...filterOf(query) };
}

async function usageRuns(
  deps: ApiDeps,
  organizationId: string,
  runs: readonly Run[],
): Promise<UsageRunOut[]> {
  const ids = runs.map(({ workflowId }) => workflowId);
  const names = await deps.store.reports.workflowNames(organizationId, ids);
  return runs.map((run) => {
    const { initialContext, costInfo } = run;
    const text = (key: string): string | null => {
      const value = initialContext[key];
      return typeof value === 'string' ? value : null;
    };
    const tokens = costInfo?.['dograh_token_usage'];
    const item = runListItem(deps, run);
    return {
      id: run.id,
      workflow_id: run.workflowId,
      workflow_name: names.get(run.workflowId) ?? null,
      name: run.name,
      created_at: item.created_at,
      dograh_token_usage: typeof tokens === 'number' ? tokens : 0,
      call_duration_seconds: Math.round(run.durationS ?? 0),
      recording_url: item.recording_url,
      transcript_url: item.transcript_url,
      user_recording_url: item.user_recording_url,
      bot_recording_url: item.bot_recording_url,
      recording_public_url: null,
      transcript_public_url: null,
      user_recording_public_url: null,
      bot_recording_public_url: null,
      public_access_token: null,
      phone_number: text('phone_number') ?? text(numberKey(run)),
      caller_number: text('caller_number'),
      called_number: text('called_number'),
      call_type: run.callType,
      mode: run.mode,
      disposition: run.disposition,
      initial_context: initialContext,
      gathered_context: run.gatheredContext,
      charge_usd: null,
    };
  });
}

function numberKey({ callType }: Run): string {
  return callType === 'inbound' ? 'caller_number' : 'called_number';
}

function currentUsageRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/usage/current-period',
    {
      schema: {
        ...common,
        operationId: 'getCurrentUsage',
        summary: 'Get current usage',
        description: "What was used in this month, of the organization's time zone or else UTC.",
        response: { 200: currentUsage, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const zone = await zoneOf(deps, organizationId);
      const month = dayAt(deps.clock.now(), zone).slice(0, 7);
      const next = dayAfter(`${month}-28`, 4).slice(0, 7);
      const from = new Date(startOfDay(`${month}-01`, zone));
      const to = new Date(startOfDay(`${next}-01`, zone));
      const [used] = await deps.store.reports.sumsBySpan({ organizationId }, [{ from, to }]);
      return {
        period_start: isoTime(from),
        period_end: isoTime(to),
        used_dograh_tokens: used?.tokens ?? 0,
        total_duration_seconds: Math.round(used?.durationS ?? 0),
        used_amount_usd: null,
        currency: null,
        price_per_second_usd: null,
      };
    },
  );
}

function dailyUsageRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/organizations/usage/daily-breakdown',
    {
      schema: {
        ...common,
        operationId: 'getDailyUsage',
        summary: 'Get daily usage',
        description: 'What was used on each of the last days, today included.',
        querystring: z.object({
          days: queryInteger(1, 30)
            .default(7)
            .describe('Days, today included: 1 to 30, in the time zone of the organization.'),
        }),
        response: { 200: dailyUsage, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { days } = request.query;
      const zone = await zoneOf(deps, organizationId);
      const today = dayAt(deps.clock.now(), zone);
      const dates = Array.from({ length: days }, (_, i) => dayAfter(today, i - days + 1));
      const spans = dates.map((date) => ({
        from: new Date(startOfDay(date, zone)),
        to: new Date(startOfDay(dayAfter(date, 1), zone)),
      }));
      const sums = await deps.store.reports.sumsBySpan({ organizationId }, spans);
      return {
        breakdown: dates.map((date, i) => ({
          date,
          minutes: minutes(sums[i]?.durationS ?? 0),
          cost_usd: null,
          dograh_tokens: sums[i]?.tokens ?? 0,
          call_count: sums[i]?.calls ?? 0,
        })),
        total_minutes: minutes(sums.reduce((sum, { durationS }) => sum + durationS, 0)),
        total_cost_usd: null,
        total_dograh_tokens: sums.reduce((sum, { tokens }) => sum + tokens, 0),
        currency: null,
      };
    },
  );
}

async function zoneOf({ store }: ApiDeps, organizationId: string): Promise<string> {
  return (await store.organizations.preferences(organizationId))?.timezone ?? 'UTC';
}

function minutes(durationS: number): number {
  return Math.round((durationS / MINUTE_S) * 100) / 100;
}
