// Checks of an agent against stored data: its tools, and trigger paths of other agents. The rules of the definition
// itself are in graph/validate. Source: contract §5.1 to §5.3.

import {
  nodeServiceProblems,
  nodeServicesExcess,
} from '../../model/speech-services/node-service-problems.ts';
import { NODE_SERVICE_FIELDS } from '../../model/speech-services/node-services.ts';
import { sectionsOf } from '../../model/speech-services/speech-settings.ts';
import type { Tool } from '../../model/tool.ts';
import type {
  DialoguePolicy,
  WorkflowDefinition,
  WorkflowProblem,
  WorkflowVersion,
} from '../../model/workflow.ts';
import type { Random } from '../../std/random.ts';
import type { Store } from '../../store/store.ts';
import { misspeltKeyWarnings } from '../graph/misspelt-keys.ts';
import { storedForm } from '../graph/node-data.ts';
import { stepNodesIn } from '../graph/step-nodes.ts';
import { mintTriggerPaths, triggerPathsOf } from '../graph/trigger-path.ts';
import { nodesWithoutEffect, validateDefinition } from '../graph/validate.ts';
import { WorkflowRefused } from '../graph/workflow-refused.ts';
import {
  agentsReferredTo,
  nameCollisions,
  toolUuidsOf,
  unknownTools,
} from '../tools/tool-references.ts';

export interface AgentCheckDeps {
  store: Pick<Store, 'workflows' | 'tools'>;
}

/** Dependencies of checks for versions that are used in calls. */
export interface VersionCheckDeps {
  store: Pick<Store, 'workflows' | 'tools' | 'modelConfigurations'>;
}

/** The definition if it can be stored: triggers have paths, and there is no contradiction. It may be incomplete. Throws
 *  WORKFLOW_INVALID for a new workflow, WORKFLOW_CONFLICT for an old one (contract §5.1). */
export async function storableDefinition(
  deps: AgentCheckDeps & { random: Random },
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

/** All problems that prevent the publication of a version. A missing language model is none: that depends on the
 *  gateway's settings, not on the agent. */
async function problemsOf(
  deps: VersionCheckDeps,
  organizationId: string,
  { definition, workflowId, configurations }: WorkflowVersion,
): Promise<WorkflowProblem[]> {
  const tools = await toolsNamedIn(deps, organizationId, definition);
  return [
    ...validateDefinition(definition, { full: true }),
    ...unknownTools(definition, tools),
    ...nameCollisions(definition, tools),
    ...(await takenTriggers(deps, definition, workflowId)),
    ...(await unknownAgents(deps, organizationId, { definition, tools })),
    ...(await serviceProblems(deps, organizationId, { definition, configurations })),
  ];
}

/** Transfers to agents that do not exist. They may be unpublished: agents that transfer to each other are published one
 *  after the other. */
async function unknownAgents(
  { store }: AgentCheckDeps,
  organizationId: string,
  { definition, tools }: { definition: WorkflowDefinition; tools: readonly Tool[] },
): Promise<WorkflowProblem[]> {
  const references = agentsReferredTo(definition, tools);
  const uuids = [...new Set(references.map(({ uuid }) => uuid))];
  const found = await Promise.all(
    uuids.map((uuid) =>
      store.workflows.findAgent({ organizationId, uuid }, ['draft', 'published']),
    ),
  );
  const known = new Set(uuids.filter((_uuid, nth) => found[nth] !== undefined));
  return references.flatMap(({ uuid, nodeId: id, field, tool }) => {
    if (known.has(uuid)) return [];
    const by = tool === undefined ? 'This node' : `The tool ${tool}`;
    const message = `${by} transfers to the agent ${uuid}, which does not exist`;
    return [{ kind: 'node' as const, id, field, message }];
  });
}

/** Problems of nodes' services, over those that the call would have: wrong values, missing keys, languages that they
 *  lack. */
async function serviceProblems(
  { store }: VersionCheckDeps,
  organizationId: string,
  { definition, configurations: workflow }: Pick<WorkflowVersion, 'definition' | 'configurations'>,
): Promise<WorkflowProblem[]> {
  const nodes = stepNodesIn(definition).all.filter(({ data }) =>
    Object.values(NODE_SERVICE_FIELDS).some((name) => hasValue(data[name])),
  );
  if (nodes.length === 0) return [];
  const stored = await store.modelConfigurations.forCalls(organizationId);
  const base = sectionsOf({ organization: undefined, ...stored, workflow }, []);
  const excess = nodeServicesExcess(
    base,
    nodes.map(({ data }) => data),
  );
  const tooMany = { kind: 'workflow', id: null, field: null } as const;
  return [
    ...nodes.flatMap(({ id, data }) =>
      nodeServiceProblems(base, data).map((problem) => ({ kind: 'node' as const, id, ...problem })),
    ),
    ...(excess === undefined ? [] : [{ ...tooMany, message: excess }]),
  ];
}

function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

/** Throws WORKFLOW_INVALID with all problems that prevent the publication of the version. */
export async function requireValid(
  deps: VersionCheckDeps,
  organizationId: string,
  version: WorkflowVersion,
): Promise<void> {
  const problems = await problemsOf(deps, organizationId, version);
  if (problems.length > 0) throw new WorkflowRefused('WORKFLOW_INVALID', problems);
}

/** Warnings about a valid version: misspelt keys, nodes that do nothing, and on a gateway without a language model
 *  everything that needs one. */
export function warningsOf(
  { definition, configurations }: WorkflowVersion,
  policy: DialoguePolicy,
): WorkflowProblem[] {
  const always = new Set(validateDefinition(definition, { full: true }).map(identity));
  const ofPolicy = validateDefinition(definition, { full: true, policy }).filter(
    (problem) => !always.has(identity(problem)),
  );
  return [
    ...misspeltKeyWarnings(definition, configurations),
    ...nodesWithoutEffect(definition),
    ...ofPolicy,
  ];
}

function identity({ kind, id, field, message }: WorkflowProblem): string {
  return JSON.stringify([kind, id, field, message]);
}

function toolsNamedIn(
  deps: AgentCheckDeps,
  organizationId: string,
  definition: WorkflowDefinition,
): Promise<Tool[]> {
  return deps.store.tools.find(organizationId, toolUuidsOf(definition));
}

/** Problems of trigger paths that other agents have: paths are unique across organizations. */
async function takenTriggers(
  deps: AgentCheckDeps,
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
