// Plans a text chat: its engine with graph, tools and clips, and its language model.

import type { Log } from '../../log.ts';
import type { Run } from '../../model/run.ts';
import type { WorkflowConfigurations, WorkflowVersion } from '../../model/workflow.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import { clipRefsOf } from '../../workflow/engine/clip-refs.ts';
import { linesFor } from '../../workflow/engine/dialogue-lines.ts';
import { createEngine, type DialogueEngine } from '../../workflow/engine.ts';
import { parseGraph } from '../../workflow/graph/graph.ts';
import { toolClipRefs } from '../../workflow/llm/tool-announcement.ts';
import { NO_TOOLS } from '../../workflow/tools/offered-functions.ts';
import { policyOf, turnSettingsOf } from '../start/setup/call-plan.ts';
import type { LanguageModelSource, PlannedModels } from '../start/setup/call-services.ts';
import { planTools } from '../start/setup/plan-tools.ts';

export interface ChatPlannerDeps {
  store: Pick<Store, 'tools' | 'clips'>;
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
    of: Pick<Run, 'organizationId' | 'initialContext'> & { id?: string },
    version: WorkflowVersion,
  ): Promise<ChatPlan> {
    const { models, store } = this.#deps;
    const { configurations, definition } = version;
    const { organizationId, initialContext } = of;
    const settings = turnSettingsOf(configurations);
    const graph = parseGraph(definition);
    const planned = await models.modelsOf({
      organizationId,
      configurations,
      definition,
      runId: of.id,
    });
    const policy = policyOf(planned);
    const tools =
      policy === 'model' ? await planTools(this.#deps, of, { definition, graph }) : NO_TOOLS;
    // Clips are replaced by their texts.
    const refs = [...clipRefsOf(definition, initialContext), ...toolClipRefs(tools)];
    const rows = refs.length === 0 ? [] : await store.clips.find(organizationId, refs);
    const engine = createEngine({
      graph,
      policy,
      tools,
      // There is no call to transfer.
      settings: { ...settings, fault_transfer_enabled: false },
      lines: linesFor(settings.agent_language),
      clips: ({ by, value }) => rows.find((clip) => clip[by] === value),
    });
    return { engine, settings, models: planned };
  }
}
