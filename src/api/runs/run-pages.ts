// Pages of runs of an agent, a campaign or the organization. Source: contract §6.2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { ROWS_BY_DURATION_MAX, type RunPage, type RunScope } from '../../store/runs/run-filters.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { pageParameters } from '../http/page-parameters.ts';
import { filtersParameter } from './run-filter-parameter.ts';
import { parseFilters, type RunFilters, type RunList } from './run-filter-query.ts';
import { runListItem } from './run-mapping.ts';

/** Largest page: the store reads distant pages in pieces. */
const PAGE_MAX = 1_000_000;

export const runPageQuery = z.object({
  ...pageParameters(PAGE_MAX),
  filters: filtersParameter('agent'),
  sort_by: z
    .string()
    .max(50)
    .optional()
    .meta({
      description:
        '`duration`: by length, up to row 10,000, runs without one last. Anything else, and the default: by age.',
      examples: ['duration'],
    }),
  sort_order: z.string().max(10).default('desc').meta({
    description: '`asc`: ascending. Anything else: descending, that is newest or longest first.',
  }),
});
export type RunPageQuery = z.infer<typeof runPageQuery>;

/** The body of a page. Throws FILTER_INVALID, FILTER_FORBIDDEN, PAGE_TOO_FAR. */
export async function pageOfRuns(
  deps: ApiDeps,
  asked: { scope: RunScope; list: RunList; query: RunPageQuery },
) {
  const { scope, list, query } = asked;
  const { filter, applied } = parseFilters(query.filters, list);
  const { runs, total } = await deps.store.runs.list(scope, storePage(query, filter));
  return {
    runs: runs.map((run) => runListItem(deps, run)),
    ...pageFacts(query, total),
    applied_filters: applied.length === 0 ? null : applied,
  };
}

/** Throws PAGE_TOO_FAR. */
export function storePage(query: RunPageQuery, filter: RunFilters['filter']): RunPage {
  const { page, limit, sort_by: sortBy, sort_order: order } = query;
  if (sortBy === 'duration' && page * limit > ROWS_BY_DURATION_MAX) {
    throw new GatewayError('PAGE_TOO_FAR', { max: ROWS_BY_DURATION_MAX });
  }
  return {
    filter,
    sortBy: sortBy === 'duration' ? 'duration' : 'created_at',
    descending: order !== 'asc',
    limit,
    offset: (page - 1) * limit,
  };
}

export function pageFacts({ page, limit }: RunPageQuery, total: number) {
  return { total_count: total, page, limit, total_pages: Math.ceil(total / limit) };
}
