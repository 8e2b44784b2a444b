// Workflow routes: create, list, read, change, status. Source: specification §4.8, contract §5.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Workflow, WorkflowStatus, WorkflowVersion } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import type { WorkflowContent } from '../../store/workflows/workflow-versions.ts';
import { keepUnseen, stripUnknownData } from '../../workflow/graph/node-data.ts';
import { storableDefinition } from '../../workflow/stored/agent-checks.ts';
import { keepExternalPbx } from '../../workflow/stored/external-pbx.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { workflowIdInPath } from '../http/path-parameters.ts';
import { idOut } from '../http/values.ts';
import type { ServiceRouteDeps } from '../model-configurations/model-configuration-routes.ts';
import {
  type NodeOverrides,
  storableNodeOverrides,
} from '../model-configurations/node-overrides.ts';
import { storableOverrides, UsedServices } from '../model-configurations/workflow-overrides.ts';
import { restoreKeys, restoreNodeKeys } from './masked-keys.ts';
import { listedOnWire, workflowOf, workflowOnWire } from './workflow-mapping.ts';
import {
  workflowCreate,
  workflowListItem,
  workflowOut,
  workflowStatusUpdate,
  workflowUpdate,
} from './workflow-schema.ts';

const common = { tags: ['workflows'], security: keyRequired };
const params = z.object({ workflow_id: workflowIdInPath });
const statusQuery = z.object({
  status: z
    .string()
    .max(100)
    .optional()
    .meta({
      description: '`active` or `archived`, or both with a comma between them. Default: both.',
      examples: ['active'],
    }),
});
const STATUSES: readonly WorkflowStatus[] = ['active', 'archived'];

export function workflowRoutes(api: Api, deps: ServiceRouteDeps): void {
  createRoute(api, deps);
  listRoutes(api, deps);
  readRoute(api, deps);
  updateRoute(api, deps);
  statusRoute(api, deps);
}

function createRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/workflow/create/definition',
    {
      schema: {
        ...common,
        operationId: 'createWorkflow',
        summary: 'Create an agent',
        description:
          'Stores a definition of nodes and edges as version 1, published. It may be incomplete; calls need a valid one.',
        body: workflowCreate,
        response: { 200: workflowOut, ...faults('WORKFLOW_INVALID', 'WORKFLOW_CONFLICT') },
      },
    },
    async (request) => {
      const { name, workflow_definition: sent } = request.body;
      const owner = principalOf(request);
      const { organizationId } = owner;
      const content = await storableDefinition(deps, sent, { organizationId, workflowId: null });
      const { workflow, version } = await deps.store.workflows.create(owner, {
        name,
        ...content,
        configurations: {},
        templateContextVariables: {},
      });
      return workflowOnWire(workflow, version, { totalRuns: 0 });
    },
  );
}

function listRoutes(api: Api, deps: ApiDeps): void {
  const { workflows } = deps.store;

  api.get(
    '/workflow/fetch',
    {
      schema: {
        ...common,
        operationId: 'listWorkflows',
        summary: 'List agents',
        description: 'All agents, or those of a status.',
        querystring: statusQuery,
        response: {
          200: z.array(workflowListItem).describe('Agents without their content.'),
          ...faults('WORKFLOW_STATUS_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const all = await workflows.list(organizationId, statusesOf(request.query.status));
      return all.map(listedOnWire);
    },
  );

  api.get(
    '/workflow/summary',
    {
      schema: {
        ...common,
        operationId: 'listWorkflowNames',
        summary: 'List names of agents',
        description: 'Ids and names of agents.',
        querystring: statusQuery,
        response: {
          200: z.array(z.object({ id: idOut, name: z.string() })).describe('Ids and names.'),
          ...faults('WORKFLOW_STATUS_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const all = await workflows.list(organizationId, statusesOf(request.query.status));
      return all.map(({ id, name }) => ({ id, name }));
    },
  );

  api.get(
    '/workflow/count',
    {
      schema: {
        ...common,
        operationId: 'countWorkflows',
        summary: 'Count agents',
        description: 'How many agents there are, by status.',
        response: {
          200: z
            .object({
              total: z.int().describe('All agents.'),
              active: z.int().describe('Those that are not archived.'),
              archived: z.int().describe('Those that are archived.'),
            })
            .describe('Numbers of agents.'),
          ...faults(),
        },
      },
    },
    async (request) => {
      const { active, archived } = await workflows.count(principalOf(request).organizationId);
      return { total: active + archived, active, archived };
    },
  );
}

function readRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/workflow/fetch/:workflow_id',
    {
      schema: {
        ...common,
        operationId: 'getWorkflow',
        summary: 'Get an agent',
        description: 'One agent with its draft, or with what is published.',
        params,
        response: { 200: workflowOut, ...faults('WORKFLOW_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return shownWorkflow(deps, organizationId, request.params.workflow_id, { isLoadable: true });
    },
  );
}

function updateRoute(api: Api, deps: ServiceRouteDeps): void {
  const { workflows } = deps.store;
  api.put(
    '/workflow/:workflow_id',
    {
      schema: {
        ...common,
        operationId: 'updateWorkflow',
        summary: 'Update an agent',
        description:
          'Renames an agent; other changes go into its draft, which is made from what is published if there is none.',
        params,
        body: workflowUpdate,
        response: {
          200: workflowOut,
          ...faults(
            'WORKFLOW_NOT_FOUND',
            'WORKFLOW_INVALID',
            'WORKFLOW_CONFLICT',
            'EXTERNAL_PBX_DISABLED',
            'SERVICES_INVALID',
            'SERVICE_KEY_MASKED',
            'MODEL_MODE_UNSUPPORTED',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const workflow = await workflowOf(deps, organizationId, request.params.workflow_id);
      const { id } = workflow;
      await workflows.changeDraft(id, async (stored) => {
        const services = new UsedServices(deps, organizationId);
        const patch = await draftPatch(deps, { workflow, stored, services }, request.body);
        return { patch, isStill: services.isStill };
      });
      const { name } = request.body;
      if (typeof name === 'string') await workflows.rename(organizationId, id, name);
      return shownWorkflow(deps, organizationId, id);
    },
  );
}

type DraftPatch = Partial<WorkflowContent> & { triggerPaths?: readonly string[] };

interface ChangedDraft {
  workflow: Workflow;
  stored: WorkflowVersion | undefined;
  services: UsedServices;
}

async function draftPatch(
  deps: ServiceRouteDeps,
  { workflow, stored: shown, services }: ChangedDraft,
  body: z.infer<typeof workflowUpdate>,
): Promise<DraftPatch> {
  const definition = body.workflow_definition;
  const configurations = body.workflow_configurations;
  const variables = body.template_context_variables;
  const stored = shown?.configurations ?? {};
  const sent = isObject(configurations)
    ? await storableSettings(deps, workflow.organizationId, {
        sent: configurations,
        stored,
        services,
      })
    : undefined;
  return {
    ...(isObject(definition)
      ? await changedDefinition(deps, workflow, {
          sent: definition,
          stored: shown?.definition,
          services,
          configurations: sent ?? stored,
        })
      : {}),
    ...(isObject(sent)
      ? { configurations: await keepExternalPbx(deps, workflow.organizationId, { sent, stored }) }
      : {}),
    ...(isObject(variables) ? { templateContextVariables: variables } : {}),
  };
}

/** The settings to store. Throws SERVICES_INVALID, SERVICE_KEY_MASKED, MODEL_MODE_UNSUPPORTED. */
async function storableSettings(
  deps: ServiceRouteDeps,
  organizationId: string,
  of: {
    sent: Record<string, unknown>;
    stored: Record<string, unknown>;
    services: UsedServices;
  },
): Promise<Record<string, unknown>> {
  const restored = restoreKeys(of.sent, of.stored);
  const overrides = await storableOverrides(deps, organizationId, of);
  return { ...(isObject(restored) ? restored : {}), ...overrides };
}

async function changedDefinition(
  deps: ServiceRouteDeps,
  { id, organizationId }: Workflow,
  { sent, ...of }: NodeOverrides,
) {
  const known = stripUnknownData(keepUnseen(restoreNodeKeys(sent, of.stored), of.stored));
  const definition = await storableNodeOverrides(deps, organizationId, { ...of, sent: known });
  return storableDefinition(deps, definition, { organizationId, workflowId: id });
}

function statusRoute(api: Api, deps: ApiDeps): void {
  api.put(
    '/workflow/:workflow_id/status',
    {
      schema: {
        ...common,
        operationId: 'setWorkflowStatus',
        summary: 'Archive or restore an agent',
        description: 'Archives an agent, which starts no more calls, or takes it back.',
        params,
        body: workflowStatusUpdate,
        response: { 200: workflowOut, ...faults('WORKFLOW_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const id = request.params.workflow_id;
      const changed = await deps.store.workflows.setStatus(organizationId, id, request.body.status);
      if (changed === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
      return shownWorkflow(deps, organizationId, id);
    },
  );
}

async function shownWorkflow(
  deps: ApiDeps,
  organizationId: string,
  id: string,
  options: { isLoadable?: boolean } = {},
): Promise<z.infer<typeof workflowOut>> {
  const shown = await deps.store.workflows.getShown(organizationId, id);
  if (shown === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  const { workflow, version, totalRuns } = shown;
  return workflowOnWire(workflow, version, { totalRuns, ...options });
}

/** Statuses of a comma-separated list; all statuses without one. Throws WORKFLOW_STATUS_INVALID. */
function statusesOf(list: string | undefined): WorkflowStatus[] {
  if (list === undefined || list === '') return [...STATUSES];
  return list.split(',').map((word) => {
    const status = STATUSES.find((each) => each === word.trim());
    if (status === undefined) throw new GatewayError('WORKFLOW_STATUS_INVALID', { status: word });
    return status;
  });
}
