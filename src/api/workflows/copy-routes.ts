// Agents made from other agents and from templates. Source: contract §5.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import type { WorkflowContent } from '../../store/workflows/workflow-store.ts';
import { withoutTriggerPaths } from '../../workflow/graph/trigger-path.ts';
import { templates } from '../../workflow/templates/template-registry.ts';
import type { WorkflowTemplate } from '../../workflow/templates/workflow-template.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { freeObject, idIn, idOut, timeOut } from '../http/values.ts';
import { withOwnNoise } from './background-noise-copy.ts';
import {
  shownVersion,
  storableDefinition,
  workflowOf,
  workflowOnWire,
} from './workflow-mapping.ts';
import { WORKFLOW_NAME_MAX, workflowName, workflowOut } from './workflow-schema.ts';

const common = { tags: ['workflows'], security: keyRequired };
const SUFFIX = ' - Duplicate';

const templateOut = z
  .object({
    id: idOut,
    template_name: z.string(),
    template_description: z.string(),
    template_json: freeObject,
    created_at: timeOut,
  })
  .meta({ id: 'WorkflowTemplateResponse' });

export function workflowCopyRoutes(api: Api, deps: ApiDeps): void {
  duplicateRoute(api, deps);
  fromTemplateRoute(api, deps);
}

/** Takes no key: what is offered is the same for everybody. */
export function templateRoutes(api: Api): void {
  api.get(
    '/workflow/templates',
    {
      schema: {
        tags: common.tags,
        operationId: 'listWorkflowTemplates',
        summary: 'Agents to begin from.',
        response: { 200: z.array(templateOut) },
      },
    },
    async () => templates.map(templateOnWire),
  );
}

function fromTemplateRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/templates/duplicate',
    {
      schema: {
        ...common,
        operationId: 'createWorkflowFromTemplate',
        summary: 'A new agent with the definition of a template.',
        body: z.object({ template_id: idIn, workflow_name: workflowName }),
        response: { 200: workflowOut, ...faults(401, 404, 409) },
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

function templateOnWire(template: WorkflowTemplate): z.infer<typeof templateOut> {
  return {
    id: template.id,
    template_name: template.name,
    template_description: template.description,
    template_json: template.definition,
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
        summary: 'A new agent with the draft of another, or with what that has published.',
        params: z.object({ workflow_id: idIn }),
        response: { 200: workflowOut, ...faults(401, 404, 409) },
      },
    },
    async (request) => {
      const owner = principalOf(request);
      const { name, id, folderId } = await workflowOf(
        deps,
        owner.organizationId,
        request.params.workflow_id,
      );
      const version = await shownVersion(deps, id);
      if (version === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
      return copied(deps, owner, {
        name: name.slice(0, WORKFLOW_NAME_MAX - SUFFIX.length) + SUFFIX,
        folderId,
        definition: version.definition,
        configurations: await withOwnNoise(
          deps,
          { organizationId: owner.organizationId, workflowId: id },
          version.configurations,
        ),
        templateContextVariables: version.templateContextVariables,
      });
    },
  );
}

/** A new agent of that content, its triggers at paths of their own. */
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
