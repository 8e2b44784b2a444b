// Loads the agents of a call: tools of the first one, and the agents to which it and they may transfer the call. An agent
// that cannot be loaded is omitted, and a transfer to it fails.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { CallEvent } from '../../../model/call-event.ts';
import type { ClipRef } from '../../../model/clip.ts';
import type { Run } from '../../../model/run.ts';
import type { LanguageServices } from '../../../model/speech-services/node-services.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import type { Store } from '../../../store/store.ts';
import { clipRefsOf } from '../../../workflow/engine/clip-refs.ts';
import type { Graph } from '../../../workflow/graph/graph.ts';
import { toolClipRefs } from '../../../workflow/llm/tool-announcement.ts';
import type { NodeTools } from '../../../workflow/tools/offered-functions.ts';
import type { SpeechAgent } from './agent-settings.ts';
import { planTools } from './plan-tools.ts';

/** Agents besides the first one: each has services and tools of its own in the call. */
const OTHERS_MAX = 8;
/** Deadline of each load: the phone rings meanwhile. */
const LOAD_MS_MAX = 3_000;

export interface PlanAgentsDeps {
  store: Pick<Store, 'tools' | 'workflows'>;
  /** The graph of a version. Throws WORKFLOW_INVALID. */
  graphOf: (version: WorkflowVersion) => Graph;
  clock: Clock;
  log: Log;
}

export interface PlannedAgent {
  name: string;
  version: WorkflowVersion;
  graph: Graph;
  tools: NodeTools;
}

export interface PlannedAgents {
  first: PlannedAgent;
  /** Other agents by uuid; null: that uuid is the first one's. */
  others: ReadonlyMap<string, PlannedAgent | null>;
  faults: readonly GatewayError[];
}

/** Versions that agents must have, by uuid: those with which they took part in the call before. */
export type AgentVersions = ReadonlyMap<string, { workflowId: string; definitionId: string }>;

type AgentRun = Pick<Run, 'organizationId' | 'workflowId'> & { id?: string };

/** Versions of the agents that have taken the call over so far. */
export function agentVersionsIn(events: readonly CallEvent[]): AgentVersions {
  return new Map(
    events.flatMap(({ body }): [string, { workflowId: string; definitionId: string }][] => {
      if (body.type !== 'agent.entered' || body.agentId === null) return [];
      const { agentId, workflowId, definitionId } = body;
      return [[agentId, { workflowId, definitionId }]];
    }),
  );
}

/** Loads the agents. Throws WORKFLOW_INVALID if the first one cannot be used. */
export async function planAgents(
  deps: PlanAgentsDeps,
  run: AgentRun,
  version: WorkflowVersion,
  versions: AgentVersions = new Map(),
): Promise<PlannedAgents> {
  const first = await agentOf(deps, run, { name: '', version });
  const others = new Map<string, PlannedAgent | null>();
  const faults: GatewayError[] = [];
  const queue = targetsOf(first);
  for (let uuid = queue.shift(); uuid !== undefined; uuid = queue.shift()) {
    if (others.has(uuid) || others.size + faults.length >= OTHERS_MAX) continue;
    try {
      const loading = loadAgent(deps, run, { uuid, isDraft: version.status === 'draft', versions });
      const agent = await withDeadline(deps.clock, LOAD_MS_MAX, 'agent of a call', loading);
      others.set(uuid, agent);
      queue.push(...(agent === null ? [] : targetsOf(agent)));
    } catch (error) {
      deps.log.warn({ err: error, agent: uuid }, 'agent for transfers not loaded');
      const reason = 'it does not exist, or is not published, or cannot be loaded';
      faults.push(new GatewayError('AGENT_TRANSFER_REFUSED', { agent: uuid, reason }, error));
    }
  }
  return { first: others.size === 0 ? first : await named(deps, run, first), others, faults };
}

/** Agents for the plan of the call's services. */
export function speechAgents({ others }: PlannedAgents): SpeechAgent[] {
  return [...others].flatMap(([agent, planned]) => {
    if (planned === null) return [];
    const { configurations, definition } = planned.version;
    return [{ agent, configurations, definition, languages: languagesOf(planned) }];
  });
}

/** Languages to which tools of the agent may switch, each once. */
export function languagesOf({ tools }: Pick<PlannedAgent, 'tools'>): LanguageServices[] {
  const all = [...tools.values()].flatMap((offered) =>
    offered.flatMap(({ tool }) => tool.languages ?? []),
  );
  return [...new Map(all.toReversed().map((each) => [each.language, each])).values()].reverse();
}

/** Clips of tools, and of agents to which the call may be transferred. */
export function clipsOf({ first, others }: PlannedAgents): ClipRef[] {
  const ofOthers = [...others.values()].flatMap((agent) =>
    agent === null
      ? []
      : [...clipRefsOf(agent.version.definition, {}), ...toolClipRefs(agent.tools)],
  );
  return [...toolClipRefs(first.tools), ...ofOthers];
}

async function loadAgent(
  deps: PlanAgentsDeps,
  run: AgentRun,
  wanted: { uuid: string; isDraft: boolean; versions: AgentVersions },
): Promise<PlannedAgent | null> {
  const { workflows } = deps.store;
  const { uuid, isDraft, versions } = wanted;
  const key = { organizationId: run.organizationId, uuid };
  const found = await workflows.findAgent(key, isDraft ? ['draft', 'published'] : ['published']);
  if (found === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  const { workflow } = found;
  if (workflow.id === run.workflowId) return null;
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const before = versions.get(uuid);
  const version =
    before === undefined
      ? found.version
      : await workflows.version(before.workflowId, before.definitionId);
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  return agentOf(deps, run, { name: workflow.name, version });
}

async function agentOf(
  deps: PlanAgentsDeps,
  run: AgentRun,
  { name, version }: Pick<PlannedAgent, 'name' | 'version'>,
): Promise<PlannedAgent> {
  const graph = deps.graphOf(version);
  const tools = await planTools(deps, run, { definition: version.definition, graph });
  return { name, version, graph, tools };
}

/** The first agent with its name, which the next one's model is told. Never rejects. */
async function named(
  { store, log }: PlanAgentsDeps,
  { organizationId, workflowId }: AgentRun,
  first: PlannedAgent,
): Promise<PlannedAgent> {
  try {
    const workflow = await store.workflows.get(organizationId, workflowId);
    return { ...first, name: workflow?.name ?? '' };
  } catch (error) {
    log.warn({ err: error }, 'name of an agent not read');
    return first;
  }
}

function targetsOf({ graph, tools }: PlannedAgent): string[] {
  const ofNodes = [...graph.nodes.values()].map(({ transferTo }) => transferTo);
  const ofTools = [...tools.values()].flatMap((offered) =>
    offered.map(({ tool }) => tool.agentUuid),
  );
  return [...new Set([...ofTools, ...ofNodes])].filter((uuid) => uuid !== undefined);
}
