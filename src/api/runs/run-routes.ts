// Routes of a workflow's runs: one, and pages of them. Source: specification §4.9, contract §6.2.

import { z } from 'zod';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { runByPath, runInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { workflowOf } from '../workflows/workflow-mapping.ts';
import { runDetail } from './run-mapping.ts';
import { pageOfRuns, runPageQuery } from './run-pages.ts';
import { runOut, runPage } from './run-schema.ts';

const common = { tags: ['runs'], security: keyRequired };

export function runRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/runs/:run_id',
    {
      schema: {
        ...common,
        operationId: 'getRun',
        summary: 'Get a run',
        description:
          'One call, or text chat: its state, contexts, links to recording and transcript, and its log.',
        params: runInPath,
        response: { 200: runOut, ...faults('RUN_NOT_FOUND') },
      },
    },
    async (request) => runDetail(deps, await runByPath(deps, request, request.params)),
  );

  api.get(
    '/workflow/:workflow_id/runs',
    {
      schema: {
        ...common,
        operationId: 'listRuns',
        summary: 'List runs of an agent',
        description: "An agent's runs, filtered and sorted, by pages.",
        params: z.object({ workflow_id: workflowIdInPath }),
        querystring: runPageQuery,
        response: {
          200: runPage,
          ...faults('WORKFLOW_NOT_FOUND', 'FILTER_INVALID', 'FILTER_FORBIDDEN', 'PAGE_TOO_FAR'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { workflow_id: workflowId } = request.params;
      const scope = { organizationId, workflowId };
      const page = await pageOfRuns(deps, { scope, list: 'agent', query: request.query });
      // An agent with runs exists and belongs to the organization: most pages need one statement.
      if (page.total_count === 0) await workflowOf(deps, organizationId, workflowId);
      return page;
    },
  );
}
