// Routes that create agents from other agents and from templates. Source: contract §5.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import type { WorkflowContent } from '../../store/workflows/workflow-versions.ts';
import { withoutTriggerPaths } from '../../workflow/graph/trigger-path.ts';
import { storableDefinition } from '../../workflow/stored/agent-checks.ts';
import { templates } from '../../workflow/templates/template-registry.ts';
import type { WorkflowTemplate } from '../../workflow/templates/workflow-template.ts';
import { safeFileName } from '../files/upload-links.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { workflowIdInPath } from '../http/path-parameters.ts';
import { freeObject, idIn, idOut, queryFlag, timeOut } from '../http/values.ts';
import { shownAgentOf, workflowOnWire } from './workflow-mapping.ts';
import { WORKFLOW_NAME_MAX, workflowName, workflowOut } from './workflow-schema.ts';

const common = { tags: ['workflows'], security: keyRequired };
const SUFFIX = ' - Duplicate';
/** Largest upload of background noise, by the contract. */
const NOISE_BYTES_MAX = 10_485_760;
const NOISE_KEY = /^ambient_noise\/(\d{1,19})\/\d{1,19}\/([A-Za-z0-9_-][A-Za-z0-9._-]{0,120})$/;
const UUID_WITH_LINE = /^[0-9a-f-]{36}-/;

const templateOut = z
  .object({
    id: idOut,
    template_name: z.string(),
    template_description: z.string(),
    template_json: freeObject
      .optional()
      .describe("The graph, in the form of an agent's definition. Left out of summaries."),
    created_at: timeOut,
  })
  .meta({ id: 'WorkflowTemplateResponse' });

export function workflowCopyRoutes(api: Api, deps: ApiDeps): void {
  duplicateRoute(api, deps);
  fromTemplateRoute(api, deps);
}

/** Routes without a key: the templates are the same for all users. */
export function templateRoutes(api: Api): void {
  api.get(
    '/workflow/templates',
    {
      schema: {
        tags: common.tags,
        operationId: 'listWorkflowTemplates',
        summary: 'List agent templates',
        description: 'Agents to begin from.',
        querystring: z.object({
          summary: queryFlag
            .default(false)
            .describe('Whether to leave the graphs out: they are most of the answer.'),
        }),
        response: { 200: z.array(templateOut).describe('All templates.'), ...faults() },
      },
    },
    async ({ query }) =>
      templates.map((template) => ({
        ...templateSummary(template),
        ...(query.summary ? {} : { template_json: template.definition }),
      })),
  );
}

function fromTemplateRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/templates/duplicate',
    {
      schema: {
        ...common,
        operationId: 'createWorkflowFromTemplate',
        summary: 'Create an agent from a template',
        description: 'A new agent with the definition of a template.',
        body: z.object({
          template_id: idIn.describe("The template's `id`, from `listWorkflowTemplates`."),
          workflow_name: workflowName.describe(
            'Name of the new agent, of 1 to 255 characters that are not all white space.',
          ),
        }),
        response: { 200: workflowOut, ...faults('TEMPLATE_NOT_FOUND') },
      },
    },
    async (request) => {
      const { template_id: id, workflow_name: name } = request.body;
      const template = templates.find((each) => each.id === id);
      if (template === undefined) throw new GatewayError('TEMPLATE_NOT_FOUND', { id });
      return copied(deps, principalOf(request), {
        name,
        folderId: null,
        definition: template.definition,
        configurations: {},
        templateContextVariables: {},
      });
    },
  );
}

function templateSummary(template: WorkflowTemplate): z.infer<typeof templateOut> {
  return {
    id: template.id,
    template_name: template.name,
    template_description: template.description,
    created_at: template.createdAt,
  };
}

function duplicateRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/:workflow_id/duplicate',
    {
      schema: {
        ...common,
        operationId: 'duplicateWorkflow',
        summary: 'Duplicate an agent',
        description: 'A new agent with the draft of another, or with what that has published.',
        params: z.object({ workflow_id: workflowIdInPath }),
        response: { 200: workflowOut, ...faults('WORKFLOW_NOT_FOUND', 'FILES_UNAVAILABLE') },
      },
    },
    async (request) => {
      const owner = principalOf(request);
      const { organizationId } = owner;
      const { workflow, version } = await shownAgentOf(
        deps,
        organizationId,
        request.params.workflow_id,
      );
      const { name, id, folderId } = workflow;
      return copied(deps, owner, {
        name: name.slice(0, WORKFLOW_NAME_MAX - SUFFIX.length) + SUFFIX,
        folderId,
        definition: version.definition,
        configurations: await withOwnNoise(
          deps,
          { organizationId, workflowId: id },
          version.configurations,
        ),
        templateContextVariables: version.templateContextVariables,
      });
    },
  );
}

/** A new agent with that content; its triggers get paths of their own. */
async function copied(
  deps: ApiDeps,
  owner: { organizationId: string; userId: string },
  copy: { name: string; folderId: string | null } & WorkflowContent,
): Promise<z.infer<typeof workflowOut>> {
  const bare: WorkflowDefinition = withoutTriggerPaths(copy.definition);
  const { organizationId } = owner;
  const content = await storableDefinition(deps, bare, { organizationId, workflowId: null });
  const made = await deps.store.workflows.create(owner, { ...copy, ...content });
  return workflowOnWire(made.workflow, made.version, { totalRuns: 0 });
}

/** The settings of a copy with the key of its own file of background noise, if they name an existing file of the
 *  organization. */
async function withOwnNoise(
  { files, random }: Pick<ApiDeps, 'files' | 'random'>,
  { organizationId, workflowId }: { organizationId: string; workflowId: string },
  configurations: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const noise = configurations['ambient_noise_configuration'];
  const key = isObject(noise) ? noise['storage_key'] : undefined;
  if (!isObject(noise) || typeof key !== 'string') return configurations;
  const [, owner, name = ''] = NOISE_KEY.exec(key) ?? [];
  if (owner !== organizationId) return configurations;
  const found = await files.stat(key);
  if (found === undefined || found.size > NOISE_BYTES_MAX) return configurations;
  const plainName = safeFileName(name.replace(UUID_WITH_LINE, ''));
  const copy = `ambient_noise/${organizationId}/${workflowId}/${random.uuid()}-${plainName}`;
  await files.write(copy, await files.readAll(key));
  return {
    ...configurations,
    ambient_noise_configuration: { ...noise, storage_key: copy },
  };
}
