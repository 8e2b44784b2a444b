// Plans a call while its phone rings: the agent's version, graph, tools, clips and first words. call-preparation
// decides whether media are admitted for it.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import { prepareSpeech } from '../../speech/speech-plan.ts';
import { SharedReads } from '../../std/batches.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import { clipRefsOf } from '../../workflow/engine/clip-refs.ts';
import { type Graph, parseGraph } from '../../workflow/graph/graph.ts';
import type { UnconnectedCall } from '../end/closing/unconnected-calls.ts';
import type { CallAdoptions } from './call-adoption.ts';
import { withRunIds } from './setup/call-context.ts';
import { type CallPlan, planCall, planClips } from './setup/call-plan.ts';
import type { CallServices } from './setup/call-services.ts';
import { firstWordsOf, renderFirstWords } from './setup/first-words.ts';
import {
  type AgentVersions,
  clipsOf,
  languagesOf,
  planAgents,
  speechAgents,
} from './setup/plan-agents.ts';
import { toolFaults } from './setup/plan-tools.ts';
import { onceFetched, type PreCallFetch, type PreCallFetches } from './setup/pre-call-fetch.ts';
import type { CallClips, ClipLibrary } from './setup/sound-library.ts';
import type { StoreWait } from './store-wait.ts';

/** Graphs, and nodes of all of them, that are kept: a few megabytes. */
const GRAPHS_MAX = 200;
const NODES_MAX = 5_000;

interface CallPlannerDeps {
  store: Pick<Store, 'runs' | 'workflows' | 'tools'>;
  services: Pick<CallServices, 'speech'>;
  sounds: ClipLibrary;
  fetches: PreCallFetches;
  adoptions: CallAdoptions;
  clock: Clock;
  log: Log;
}

export interface PlannedCall extends UnconnectedCall {
  /** The version of a run that this process has just created, so that no lookup is needed. */
  fresh?: WorkflowVersion | undefined;
  /** Whether the call is answered already and waits with audio of its provider. */
  isWaiting?: boolean | undefined;
  /** The call's wait for the store, if it has begun. */
  wait?: StoreWait | undefined;
  /** The request before the call, if it was sent: a repeated plan does not send it again. */
  preCall?: PreCallFetch | undefined;
  /** Versions of agents that have taken the call over before. Default: none has. */
  agents?: AgentVersions | undefined;
  /** Set for a call that this process has adopted after another one had planned it: until when that one's request before
   *  the call may have a result, milliseconds since 1970. */
  planned?: { fetchUntilMs: number } | undefined;
}

export class CallPlanner {
  readonly #deps: CallPlannerDeps;
  /** Reads that calls share: those of a burst have one agent read for several of them. */
  readonly #versions = new SharedReads<WorkflowVersion | undefined>();
  readonly #graphs = new GraphCache();

  constructor(deps: CallPlannerDeps) {
    this.#deps = deps;
  }

  /** Plans a call. Throws AGENT_NOT_PUBLISHED, WORKFLOW_INVALID. */
  async plan(call: PlannedCall): Promise<CallPlan> {
    const { services, sounds: library, fetches } = this.#deps;
    const { configuration, provider } = call;
    const run = withRunIds(call.run);
    const version = call.fresh ?? (await this.#versionOf(call));
    call.preCall ??=
      call.planned === undefined
        ? fetches.start(run, version.definition)
        : fetches.resume(run, version.definition, call.planned.fetchUntilMs);
    const fetch = call.preCall;
    const { organizationId } = run;
    const { configurations, definition } = version;
    const graphOf = (of: WorkflowVersion): Graph => this.#graphs.of(of);
    const agents = await planAgents({ ...this.#deps, graphOf }, run, version, call.agents);
    const {
      plan: speech,
      languages,
      faults: unusable,
    } = await services.speech.planOf({
      organizationId,
      configurations,
      definition,
      runId: run.id,
      languages: languagesOf(agents.first),
      ...(agents.others.size > 0 && { others: speechAgents(agents) }),
    });
    prepareSpeech(speech);
    const sounds = await planClips(library, run, version);
    const planned = planCall({
      run,
      configuration,
      provider,
      agents,
      speech,
      ...(languages && { languages }),
      sounds,
    });
    await sounds.clips.add(clipsOf(agents));
    const preCall = fetch && { ...fetch, context: withClips(planned.clips, fetch.context) };
    const ofTools = toolFaults(provider, planned.tools);
    const faults = [...unusable, ...agents.faults, ...planned.faults, ...ofTools];
    return { ...planned, preCall, faults };
  }

  /** Renders the agent's first words into the prompt cache once they are known. A service's voice keeps words that
   *  are the same in every call. A failure appears again in the call. */
  prepareFirstWords(plan: CallPlan): void {
    const { callType } = plan.run;
    onceFetched(plan, (initialContext) => {
      const words = firstWordsOf(plan, { callType, initialContext }, this.#deps.clock);
      if (words !== undefined) void renderFirstWords(words, plan.speech, this.#deps);
    });
  }

  /** Whether this process has the call. False if another process has it, as after a webhook that the provider
   *  repeated to that process: a second stream would disturb the conversation. Never rejects. */
  async awaitsMedia(runId: string): Promise<boolean> {
    const { store, log } = this.#deps;
    try {
      const [run, owner] = await Promise.all([store.runs.find(runId), store.runs.owner(runId)]);
      return run?.state === 'initialized' && owner?.isOwn === true;
    } catch (error) {
      log.warn({ err: error, runId }, 'media not requested again');
      return false;
    }
  }

  /** The version of a run that another process may have created, and which this process then takes over. */
  async #versionOf({ run, provider, planned }: PlannedCall): Promise<WorkflowVersion> {
    const { store, adoptions } = this.#deps;
    if (planned === undefined) await adoptions.adopt(run, provider);
    const { workflowId, definitionId } = run;
    const read = () => store.workflows.version(workflowId, definitionId);
    const version = await this.#versions.get(`${workflowId} ${definitionId}`, read);
    if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    return version;
  }
}

/** The fetched context, after its clips are loaded. */
async function withClips(
  clips: CallClips,
  context: PreCallFetch['context'],
): PreCallFetch['context'] {
  const fetched = await context;
  await clips.add(clipRefsOf({ nodes: [], edges: [] }, fetched));
  return fetched;
}

/** Graphs of the agents that calls use. A version that is not a draft never changes, so that its graph is parsed once and
 *  not for each call: a node takes 60 µs of the event loop. */
export class GraphCache {
  /** Graphs by version, the least recently used first. */
  readonly #graphs = new Map<string, Graph>();
  #nodes = 0;

  /** The graph of a version; shared, and must not be changed. Throws as `parseGraph` does. */
  of({ id, status, definition }: WorkflowVersion): Graph {
    if (status === 'draft') return parseGraph(definition);
    const graph = this.#graphs.get(id) ?? parseGraph(definition);
    this.#remove(id);
    this.#graphs.set(id, graph);
    this.#nodes += graph.nodes.size;
    for (const oldest of this.#graphs.keys()) {
      if (this.#graphs.size <= GRAPHS_MAX && this.#nodes <= NODES_MAX) break;
      this.#remove(oldest);
    }
    return graph;
  }

  #remove(id: string): void {
    this.#nodes -= this.#graphs.get(id)?.nodes.size ?? 0;
    this.#graphs.delete(id);
  }
}
