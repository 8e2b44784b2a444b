// A workflow's content on its way into the store (checked, its triggers given paths) and out of it.
// Source: contract §5.1 to §5.3.

import type { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Tool } from '../../model/tool.ts';
import type {
  Workflow,
  WorkflowDefinition,
  WorkflowProblem,
  WorkflowVersion,
} from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';
import { storedForm } from '../../workflow/graph/node-data.ts';
import { publicDefinition } from '../../workflow/graph/public-definition.ts';
import { mintTriggerPaths, triggerPathsOf } from '../../workflow/graph/trigger-path.ts';
import { validateDefinition } from '../../workflow/graph/validate.ts';
import { nameCollisions, toolUuidsOf, unknownTools } from '../../workflow/tools/tool-references.ts';
import type { ApiDeps } from '../http/api-deps.ts';
import { isoTime, isoTimeOrNull } from '../http/values.ts';
import { WorkflowRefused } from '../http/workflow-refused.ts';
import { maskKeys } from './masked-keys.ts';
import type { workflowListItem, workflowOut, workflowVersionOut } from './workflow-schema.ts';

/** Throws WORKFLOW_NOT_FOUND, for a foreign one too. */
export async function workflowOf(
  deps: ApiDeps,
  organizationId: string,
  id: string,
): Promise<Workflow> {
  const workflow = await deps.store.workflows.get(organizationId, id);
  if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
  return workflow;
}

/** The draft if there is one, else what is published. */
export async function shownVersion(
  deps: ApiDeps,
  workflowId: string,
): Promise<WorkflowVersion | undefined> {
  const { workflows } = deps.store;
  return (await workflows.draft(workflowId)) ?? (await workflows.published(workflowId));
}

/** What can be stored: triggers have paths, and nothing in it contradicts itself. It may be incomplete.
 *  Throws WORKFLOW_INVALID for a new workflow, WORKFLOW_CONFLICT for an old one (contract §5.1). */
export async function storableDefinition(
  deps: ApiDeps,
  sent: WorkflowDefinition,
  { organizationId, workflowId }: { organizationId: string; workflowId: string | null },
): Promise<{ definition: WorkflowDefinition; triggerPaths: string[] }> {
  const definition = mintTriggerPaths(storedForm(sent), deps.random);
  const problems = [
    ...validateDefinition(definition, { full: false }),
    ...nameCollisions(definition, await toolsNamedIn(deps, organizationId, definition)),
  ];
  if (problems.length > 0) {
    const isFormat = problems.some(({ field }) => field === 'data.trigger_path');
    const isNew = workflowId === null;
    throw new WorkflowRefused(
      isNew || isFormat ? 'WORKFLOW_INVALID' : 'WORKFLOW_CONFLICT',
      problems,
    );
  }
  const taken = await takenTriggers(deps, definition, workflowId);
  if (taken.length > 0) throw new WorkflowRefused('WORKFLOW_CONFLICT', taken);
  return { definition, triggerPaths: triggerPathsOf(definition) };
}

/** Everything that keeps a version from being published. Whether a language model is there to speak for
 *  its prompts is no part of it: that changes with the gateway's settings, not with the agent. */
export async function problemsOf(
  deps: ApiDeps,
  organizationId: string,
  { definition, workflowId }: WorkflowVersion,
): Promise<WorkflowProblem[]> {
  const tools = await toolsNamedIn(deps, organizationId, definition);
  return [
    ...validateDefinition(definition, { full: true }),
    ...unknownTools(definition, tools),
    ...nameCollisions(definition, tools),
    ...(await takenTriggers(deps, definition, workflowId)),
  ];
}

/** What a valid version lacks on this gateway: without a language model, whatever needs one. */
export function warningsOf(deps: ApiDeps, { definition }: WorkflowVersion): WorkflowProblem[] {
  const always = new Set(validateDefinition(definition, { full: true }).map(identity));
  return validateDefinition(definition, { full: true, policy: deps.policy }).filter(
    (problem) => !always.has(identity(problem)),
  );
}

function identity({ kind, id, field, message }: WorkflowProblem): string {
  return JSON.stringify([kind, id, field, message]);
}

function toolsNamedIn(
  deps: ApiDeps,
  organizationId: string,
  definition: WorkflowDefinition,
): Promise<Tool[]> {
  return deps.store.tools.find(organizationId, toolUuidsOf(definition));
}

/** Trigger paths are unique across organizations. */
async function takenTriggers(
  deps: ApiDeps,
  definition: WorkflowDefinition,
  workflowId: string | null,
): Promise<WorkflowProblem[]> {
  const paths = triggerPathsOf(definition);
  if (paths.length === 0) return [];
  const taken = new Set(await deps.store.workflows.takenTriggers(paths, workflowId));
  return definition.nodes
    .filter(({ data }) => taken.has(String(data['trigger_path'])))
    .map((node) => ({
      kind: 'node' as const,
      id: node.id,
      field: 'data.trigger_path',
      message: `Trigger path ${String(node.data['trigger_path'])} is already in use by another agent`,
    }));
}

/** `isLoadable`: as a client's builder can load it (shown-definition.ts). */
export function workflowOnWire(
  workflow: Workflow,
  version: WorkflowVersion | undefined,
  { totalRuns, isLoadable = false }: { totalRuns: number; isLoadable?: boolean },
): z.infer<typeof workflowOut> {
  return {
    id: workflow.id,
    name: workflow.name,
    status: workflow.status,
    created_at: isoTime(workflow.createdAt),
    workflow_definition:
      version === undefined ? {} : masked(publicDefinition(version.definition, { isLoadable })),
    current_definition_id: version?.id ?? null,
    template_context_variables: version?.templateContextVariables ?? {},
    call_disposition_codes: { disposition_codes: workflow.dispositionCodes },
    total_runs: totalRuns,
    workflow_configurations: masked(version?.configurations ?? {}),
    version_number: version?.versionNumber ?? null,
    version_status: version?.status ?? null,
    workflow_uuid: workflow.uuid,
  };
}

export function listedOnWire(
  workflow: Workflow & { totalRuns: number },
): z.infer<typeof workflowListItem> {
  return {
    id: workflow.id,
    name: workflow.name,
    status: workflow.status,
    created_at: isoTime(workflow.createdAt),
    total_runs: workflow.totalRuns,
    folder_id: workflow.folderId,
    workflow_uuid: workflow.uuid,
  };
}

export function versionOnWire(version: WorkflowVersion): z.infer<typeof workflowVersionOut> {
  return {
    id: version.id,
    version_number: version.versionNumber,
    status: version.status,
    created_at: isoTime(version.createdAt),
    published_at: isoTimeOrNull(version.publishedAt),
    workflow_json: masked(publicDefinition(version.definition)),
    workflow_configurations: masked(version.configurations),
    template_context_variables: version.templateContextVariables,
  };
}

function masked(value: unknown): Record<string, unknown> {
  const copy = maskKeys(value);
  return isObject(copy) ? copy : {};
}
