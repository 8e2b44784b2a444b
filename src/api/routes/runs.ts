// Runs of a workflow: one, and pages of them. Source: specification §4.9, contract §6.2.

import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { principalOf } from '../auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { keyRequired } from '../openapi.ts';
import { parseFilters } from '../run-filters.ts';
import { runDetail, runListItem } from '../run-on-wire.ts';
import { faults } from '../wire/faults.ts';
import { runOut, runPage } from '../wire/run.ts';
import { idIn, queryInteger } from '../wire/values.ts';
import { workflowOf } from '../workflow-content.ts';

const common = { tags: ['runs'], security: keyRequired };
/** Rows that are skipped are still read. */
const PAGE_MAX = 1_000_000;

const pageQuery = z.object({
  page: queryInteger(1, PAGE_MAX).default(1),
  limit: queryInteger(1, 100).default(50),
  filters: z.string().max(10_000).optional(),
  sort_by: z.string().max(50).optional(),
  sort_order: z.string().max(10).default('desc'),
});

export function runRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/runs/:run_id',
    {
      schema: {
        ...common,
        operationId: 'getRun',
        summary: 'What became of one call.',
        params: z.object({ workflow_id: idIn, run_id: idIn }),
        response: { 200: runOut, ...faults(401, 404) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const run = await deps.store.runs.get(organizationId, request.params.run_id);
      if (run?.workflowId !== request.params.workflow_id) throw new GatewayError('RUN_NOT_FOUND');
      return runDetail(deps, run);
    },
  );

  api.get(
    '/workflow/:workflow_id/runs',
    {
      schema: {
        ...common,
        operationId: 'listRuns',
        summary: "An agent's runs, filtered and sorted, by pages.",
        params: z.object({ workflow_id: idIn }),
        querystring: pageQuery,
        response: { 200: runPage, ...faults(400, 401, 403, 404) },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { page, limit, filters: text, sort_by: sortBy, sort_order: order } = request.query;
      const filters = parseFilters(text);
      const { id } = await workflowOf(deps, organizationId, request.params.workflow_id);
      const { runs, total } = filters.isEmpty
        ? { runs: [], total: 0 }
        : await deps.store.runs.list({ organizationId, workflowId: id }, {
            filter: filters.filter,
            sortBy: sortBy === 'duration' ? 'duration' : 'created_at',
            descending: order !== 'asc',
            limit,
            offset: (page - 1) * limit,
          });
      return {
        runs: runs.map((run) => runListItem(deps, run)),
        total_count: total,
        page,
        limit,
        total_pages: Math.ceil(total / limit),
        applied_filters: filters.applied.length === 0 ? null : filters.applied,
      };
    },
  );
}
