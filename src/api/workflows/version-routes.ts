// Routes of a workflow's versions: list, draft, validate, publish. Source: contract §5.1, §5.2.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import { triggerPathsOf } from '../../workflow/graph/trigger-path.ts';
import { requireValid, warningsOf } from '../../workflow/stored/agent-checks.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults, workflowProblemSchema } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { offsetParameter } from '../http/page-parameters.ts';
import { versionIdInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { idOut, isoTimeOrNull, queryInteger, timeOut } from '../http/values.ts';
import { shownAgentOf, versionOnWire, workflowOf } from './workflow-mapping.ts';
import { workflowVersionOut } from './workflow-schema.ts';

const common = { tags: ['workflows'], security: keyRequired };
const params = z.object({ workflow_id: workflowIdInPath });
const versionParams = params.extend({ version_id: versionIdInPath });
/** Versions of a list without a limit in the query. */
const VERSIONS_MAX = 1_000;

const published = z
  .object({
    id: idOut,
    version_number: z.int().describe('Versions of an agent count from 1.'),
    status: z.literal('published'),
    published_at: timeOut.nullable(),
  })
  .describe('The version that calls use from here on.');

export function workflowVersionRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  draftRoutes(api, deps);
}

/** A version of an agent of the organization. Throws WORKFLOW_NOT_FOUND, WORKFLOW_VERSION_NOT_FOUND. */
async function versionOf(
  deps: ApiDeps,
  organizationId: string,
  wanted: { workflow_id: string; version_id: string },
): Promise<WorkflowVersion> {
  const { id } = await workflowOf(deps, organizationId, wanted.workflow_id);
  const version = await deps.store.workflows.version(id, wanted.version_id);
  if (version === undefined) throw new GatewayError('WORKFLOW_VERSION_NOT_FOUND');
  return version;
}

function readRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/:workflow_id/versions',
    {
      schema: {
        ...common,
        operationId: 'listWorkflowVersions',
        summary: 'List versions of an agent',
        description: 'Versions, newest first.',
        params,
        querystring: z.object({
          limit: queryInteger(1, 100)
            .optional()
            .describe('Versions at most. Default: all, up to 1,000.'),
          offset: offsetParameter,
        }),
        response: {
          200: z.array(workflowVersionOut).describe('Versions, newest first.'),
          ...faults('WORKFLOW_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await workflowOf(deps, organizationId, request.params.workflow_id);
      const { limit = VERSIONS_MAX, offset } = request.query;
      const versions = await deps.store.workflows.versions(id, { limit, offset });
      return versions.map(versionOnWire);
    },
  );

  api.get(
    '/workflow/:workflow_id/versions/:version_id',
    {
      schema: {
        ...common,
        operationId: 'getWorkflowVersion',
        summary: 'Get a version of an agent',
        description: 'One version, whole.',
        params: versionParams,
        response: {
          200: workflowVersionOut,
          ...faults('WORKFLOW_NOT_FOUND', 'WORKFLOW_VERSION_NOT_FOUND'),
        },
      },
    },
    async (request) =>
      versionOnWire(await versionOf(deps, principalOf(request).organizationId, request.params)),
  );

  api.post(
    '/workflow/:workflow_id/validate',
    {
      schema: {
        ...common,
        operationId: 'validateWorkflow',
        summary: 'Validate an agent',
        description:
          'Checks the draft, or what is published: a valid agent is 200 with warnings, any other 422 with everything that is wrong.',
        params,
        response: {
          200: z
            .object({
              is_valid: z.literal(true),
              errors: z.array(z.never()),
              warnings: z
                .array(workflowProblemSchema)
                .describe(
                  'Misspelt keys, and what keeps the agent from working on this gateway in its current setup.',
                ),
            })
            .describe('The agent is valid.'),
          ...faults('WORKFLOW_NOT_FOUND', 'WORKFLOW_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { workflow_id: id } = request.params;
      const { version } = await shownAgentOf(deps, organizationId, id);
      await requireValid(deps, organizationId, version);
      return { is_valid: true as const, errors: [], warnings: warningsOf(version, deps.policy) };
    },
  );
}

function draftRoutes(api: Api, deps: ApiDeps): void {
  const { workflows } = deps.store;

  api.post(
    '/workflow/:workflow_id/create-draft',
    {
      schema: {
        ...common,
        operationId: 'createWorkflowDraft',
        summary: 'Create a draft',
        description: 'The draft, made from what is published if there is none.',
        params,
        response: { 200: workflowVersionOut, ...faults('WORKFLOW_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await workflowOf(deps, organizationId, request.params.workflow_id);
      return versionOnWire(await workflows.createDraft(id));
    },
  );

  api.post(
    '/workflow/:workflow_id/versions/:version_id/restore',
    {
      schema: {
        ...common,
        operationId: 'restoreWorkflowVersion',
        summary: 'Restore a version of an agent',
        description:
          'Makes the draft what that version was, in place of what the draft has. Calls use it once it is published.',
        params: versionParams,
        response: {
          200: workflowVersionOut,
          ...faults('WORKFLOW_NOT_FOUND', 'WORKFLOW_VERSION_NOT_FOUND', 'WORKFLOW_CONFLICT'),
        },
      },
    },
    async (request) => {
      const version = await versionOf(deps, principalOf(request).organizationId, request.params);
      const { workflowId, definition, configurations, templateContextVariables } = version;
      const content = { definition, configurations, templateContextVariables };
      const triggerPaths = triggerPathsOf(definition);
      return versionOnWire(await workflows.saveDraft(workflowId, { ...content, triggerPaths }));
    },
  );

  api.post(
    '/workflow/:workflow_id/publish',
    {
      schema: {
        ...common,
        operationId: 'publishWorkflow',
        summary: 'Publish an agent',
        description: 'Makes the draft what calls use.',
        params,
        response: {
          200: published,
          ...faults('WORKFLOW_NOT_FOUND', 'WORKFLOW_NO_DRAFT', 'WORKFLOW_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await workflowOf(deps, organizationId, request.params.workflow_id);
      const draft = await workflows.draft(id);
      if (draft === undefined) throw new GatewayError('WORKFLOW_NO_DRAFT');
      await requireValid(deps, organizationId, draft);
      const version = await workflows.publish(id);
      return {
        id: version.id,
        version_number: version.versionNumber,
        status: 'published' as const,
        published_at: isoTimeOrNull(version.publishedAt),
      };
    },
  );
}
