// Resolves the agent of a call: a workflow by its uuid or one of its triggers, and the version that runs. Order of
// checks: contract §6.1.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { requireUsable } from '../../../model/json-limits.ts';
import type { Workflow, WorkflowVersion } from '../../../model/workflow.ts';
import type { Store } from '../../../store/store.ts';
import { isTriggerEnabled } from '../../../workflow/graph/trigger-path.ts';
import type { StartCall } from './call-start.ts';

interface AgentDeps {
  store: Pick<Store, 'workflows'>;
}

export interface ResolvedAgent {
  workflow: Workflow;
  version: WorkflowVersion;
}

/** Resolves an agent. Throws the errors of contract §6.1 for agents, and AGENT_OVERSIZED. */
export function resolveAgent(deps: AgentDeps, request: StartCall): Promise<ResolvedAgent> {
  const { type } = request.agent;
  return type === 'workflow_uuid' ? resolveByUuid(deps, request) : resolveByTrigger(deps, request);
}

async function resolveByUuid(deps: AgentDeps, request: StartCall): Promise<ResolvedAgent> {
  const { agent, organizationId, mode } = request;
  const found = await deps.store.workflows.findAgent(
    { organizationId, uuid: agent.identifier },
    mode === 'test' ? ['draft', 'published'] : ['published'],
  );
  // The workflow's row gives the reason why there is no version.
  const workflow = found?.workflow ?? (await byUuid(deps, organizationId, agent.identifier));
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  if (found === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return { workflow, version: requireUsable(found.version) };
}

async function resolveByTrigger(deps: AgentDeps, request: StartCall): Promise<ResolvedAgent> {
  const { agent, organizationId, mode } = request;
  const workflow = await byTrigger(deps, organizationId, agent.identifier);
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const { workflows } = deps.store;
  const version =
    mode === 'test'
      ? await workflows.draftOrPublished(workflow.id)
      : await workflows.published(workflow.id);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  const isEnabled = isTriggerEnabled(version.definition, agent.identifier);
  if (isEnabled === undefined) throw new GatewayError('TRIGGER_NOT_IN_AGENT');
  if (!isEnabled) throw new GatewayError('TRIGGER_NOT_ACTIVE');
  return { workflow, version: requireUsable(version) };
}

/** The draft of a workflow, or its published version. Throws as `resolveAgentById`. */
export function resolveTestAgent(
  deps: AgentDeps,
  organizationId: string,
  workflowId: string,
): Promise<ResolvedAgent> {
  return resolveAgentById(deps, { organizationId, workflowId, isDraft: true });
}

/** The published version of a workflow; with `isDraft` its draft, if there is one. Throws AGENT_NOT_FOUND,
 *  AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, AGENT_OVERSIZED. */
export async function resolveAgentById(
  { store }: AgentDeps,
  wanted: { organizationId: string; workflowId: string; isDraft: boolean },
): Promise<ResolvedAgent> {
  const { organizationId, workflowId, isDraft } = wanted;
  const workflow = await store.workflows.get(organizationId, workflowId);
  if (workflow === undefined) throw new GatewayError('AGENT_NOT_FOUND');
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const version = isDraft
    ? await store.workflows.draftOrPublished(workflow.id)
    : await store.workflows.published(workflow.id);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return { workflow, version: requireUsable(version) };
}

async function byUuid(deps: AgentDeps, organizationId: string, uuid: string): Promise<Workflow> {
  const { workflows } = deps.store;
  const workflow = await workflows.findByUuid(uuid);
  if (workflow?.organizationId === organizationId) return workflow;
  const named = await workflows.get(organizationId, uuid);
  if (named === undefined) throw new GatewayError('AGENT_NOT_FOUND');
  throw new GatewayError('AGENT_UUID_EXPECTED', { given: uuid, uuid: named.uuid });
}

async function byTrigger(deps: AgentDeps, organizationId: string, path: string): Promise<Workflow> {
  const trigger = await deps.store.workflows.findTrigger(path);
  if (trigger === undefined) throw await noTrigger(deps, organizationId, path);
  if (trigger.workflow.organizationId !== organizationId) {
    throw new GatewayError('TRIGGER_FORBIDDEN');
  }
  if (!trigger.isActive) throw new GatewayError('TRIGGER_NOT_ACTIVE');
  return trigger.workflow;
}

/** The error for a path that is no trigger: it may be the uuid or the id of a workflow. */
async function noTrigger(
  { store: { workflows } }: AgentDeps,
  organizationId: string,
  path: string,
): Promise<GatewayError> {
  const byUuid = await workflows.findByUuid(path);
  const isOwn = byUuid?.organizationId === organizationId;
  const named = isOwn ? byUuid : await workflows.get(organizationId, path);
  if (named === undefined) return new GatewayError('TRIGGER_NOT_FOUND');
  return new GatewayError('TRIGGER_PATH_EXPECTED', { given: path, uuid: named.uuid });
}
