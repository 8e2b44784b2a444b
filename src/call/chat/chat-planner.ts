// Plans a text chat: its engine with graph, tools and clips, and its language model.

import type { Log } from '../../log.ts';
import type { Run } from '../../model/run.ts';
import type { WorkflowConfigurations, WorkflowVersion } from '../../model/workflow.ts';
import { placeKey } from '../../speech/speech-plan.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import { clipRefsOf } from '../../workflow/engine/clip-refs.ts';
import { type AgentOptions, createEngine, type DialogueEngine } from '../../workflow/engine.ts';
import { type Graph, parseGraph } from '../../workflow/graph/graph.ts';
import { agentOptions, startOf, turnSettingsOf } from '../start/setup/call-plan.ts';
import type { LanguageModelSource, PlannedModels } from '../start/setup/call-services.ts';
import {
  clipsOf,
  type PlannedAgent,
  planAgents,
  speechAgents,
} from '../start/setup/plan-agents.ts';

export interface ChatPlannerDeps {
  store: Pick<Store, 'tools' | 'clips' | 'workflows'>;
  models: LanguageModelSource;
  clock: Clock;
  log: Log;
}

export interface ChatPlan {
  engine: DialogueEngine;
  settings: WorkflowConfigurations;
  models: PlannedModels;
}

export class ChatPlanner {
  readonly #deps: ChatPlannerDeps;

  constructor(deps: ChatPlannerDeps) {
    this.#deps = deps;
  }

  /** Plans a chat. Throws WORKFLOW_INVALID. */
  async plan(
    of: Pick<Run, 'organizationId' | 'workflowId' | 'initialContext'> & { id?: string },
    version: WorkflowVersion,
  ): Promise<ChatPlan> {
    const { models, store } = this.#deps;
    const { configurations, definition } = version;
    const { organizationId, initialContext } = of;
    const graphOf = (each: WorkflowVersion): Graph => parseGraph(each.definition);
    const agents = await planAgents({ ...this.#deps, graphOf }, of, version);
    const others = agents.others.size > 0 ? speechAgents(agents) : undefined;
    const planned = await models.modelsOf({
      organizationId,
      configurations,
      definition,
      runId: of.id,
      ...(others && { others }),
    });
    const optionsOf = (agent: PlannedAgent, uuid?: string): AgentOptions => {
      const { llm } = planned.nodes?.get(placeKey(startOf(agent, uuid))) ?? planned;
      const options = agentOptions(agent, { llm }, undefined);
      // There is no call to transfer.
      return { ...options, settings: { ...options.settings, fault_transfer_enabled: false } };
    };
    const first = optionsOf(agents.first);
    // Clips are replaced by their texts.
    const refs = [...clipRefsOf(definition, initialContext), ...clipsOf(agents)];
    const rows = refs.length === 0 ? [] : await store.clips.find(organizationId, refs);
    const engine = createEngine({
      ...first,
      agents: new Map(
        [...agents.others].map(([uuid, agent]) => [uuid, agent && optionsOf(agent, uuid)]),
      ),
      isWritten: true,
      clips: ({ by, value }) => rows.find((clip) => clip[by] === value),
    });
    const settings = turnSettingsOf(configurations);
    return { engine, settings, models: planned };
  }
}
