// First words of a campaign's calls. The worker renders them and decodes the agent's clips before it dials: the agent
// speaks as soon as a call is answered, and calls that are answered together do not all render at that moment.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { SharedWork } from '../../../std/shared-work.ts';
import type { Store } from '../../../store/store.ts';
import { parseGraph } from '../../../workflow/graph/graph.ts';
import { preCallRequestOf } from '../../../workflow/graph/pre-call-request.ts';
import { planCall, planClips } from '../setup/call-plan.ts';
import type { CallServices } from '../setup/call-services.ts';
import { firstWordsOf, renderFirstWords, type WordsPlan } from '../setup/first-words.ts';
import type { ClipLibrary } from '../setup/sound-library.ts';
import type { DialRequestOfRun } from './dial-record.ts';

/** Longest wait of a dial. Words that take longer are ready while the phone rings. */
const WAIT_MS_MAX = 1_500;
/** Agents in memory: those of campaigns that dial at the same time. */
const AGENTS_MAX = 100;
/** Time after which an agent's services are read again: they may have changed. */
const KEPT_MS = 60_000;

export interface CampaignWordsDeps {
  store: Pick<Store, 'workflows'>;
  services: Pick<CallServices, 'speech'>;
  sounds: ClipLibrary;
  clock: Clock;
  log: Log;
}

interface Agent {
  /** Undefined: its first words depend on an answer that comes while the phone rings. */
  plan: WordsPlan | undefined;
  readAtMs: number;
}

export class CampaignWords {
  readonly #deps: CampaignWordsDeps;
  /** Agents by version, least recently used first. */
  readonly #agents = new Map<string, Agent>();
  readonly #reading = new SharedWork<Agent>();
  #isRenderingOwn = false;

  constructor(deps: CampaignWordsDeps) {
    this.#deps = deps;
  }

  /** Resolves when the words are rendered, or cannot be, within 1.5 s. Never rejects. */
  async ready(placement: DialRequestOfRun): Promise<void> {
    const { clock, log } = this.#deps;
    const { id: runId } = placement.run;
    try {
      await withDeadline(clock, WAIT_MS_MAX, 'first words', this.#render(placement));
    } catch (error) {
      log.debug({ err: error, runId }, 'dialled before the first words were ready');
    }
  }

  async #render(placement: DialRequestOfRun): Promise<void> {
    const { plan } = await this.#agentOf(placement);
    const words = plan && firstWordsOf(plan, placement.run, this.#deps.clock);
    if (plan === undefined || words === undefined) return;
    // Words of one contact's own are rendered one at a time: many contacts do not answer, and a fast campaign would keep
    // the voice busy for them.
    if (!words.isFixed && this.#isRenderingOwn) return;
    this.#isRenderingOwn ||= !words.isFixed;
    try {
      await renderFirstWords(words, plan.speech, this.#deps);
    } finally {
      if (!words.isFixed) this.#isRenderingOwn = false;
    }
  }

  async #agentOf(placement: DialRequestOfRun): Promise<Agent> {
    const { definitionId } = placement.run;
    const known = this.#agents.get(definitionId);
    const isFresh =
      known !== undefined && this.#deps.clock.monotonicMs() - known.readAtMs < KEPT_MS;
    const agent = isFresh
      ? known
      : await this.#reading.run(definitionId, () => this.#read(placement));
    this.#agents.delete(definitionId);
    this.#agents.set(definitionId, agent);
    const [oldest] = this.#agents.keys();
    if (this.#agents.size > AGENTS_MAX && oldest !== undefined) this.#agents.delete(oldest);
    return agent;
  }

  async #read({ run, route, version: given }: DialRequestOfRun): Promise<Agent> {
    const { services, sounds: library, clock } = this.#deps;
    const readAtMs = clock.monotonicMs();
    const version = given ?? (await this.#versionOf(run));
    const { configurations, definition } = version;
    if (preCallRequestOf(definition, run.callType) !== undefined) {
      return { plan: undefined, readAtMs };
    }
    const { organizationId } = run;
    const owner = { organizationId, configurations, definition };
    const { plan: speech } = await services.speech.planOf(owner);
    const sounds = await planClips(library, run, version);
    const graph = parseGraph(definition);
    return { plan: planCall({ run, ...route, version, graph, speech, sounds }), readAtMs };
  }

  async #versionOf({
    workflowId,
    definitionId,
  }: DialRequestOfRun['run']): Promise<WorkflowVersion> {
    const version = await this.#deps.store.workflows.version(workflowId, definitionId);
    if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    return version;
  }
}
