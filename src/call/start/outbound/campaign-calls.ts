// A campaign's calls for the dispatcher: their routes (campaign-plans.ts), their first words and their dials. A dial is
// sent once: after an unclear answer the provider is asked, and the dial is not repeated.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsRefused, callsStarted } from '../../../metrics/metrics.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { SharedWork } from '../../../std/shared-work.ts';
import type { ClaimedAttempt } from '../../../store/campaigns/dial-attempts.ts';
import type { Store } from '../../../store/store.ts';
import { parseGraph } from '../../../workflow/graph/graph.ts';
import { preCallRequestOf } from '../../../workflow/graph/pre-call-request.ts';
import { NO_TOOLS } from '../../../workflow/tools/offered-functions.ts';
import type { UnconnectedCall } from '../../end/closing/unconnected-calls.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import { planCall, planClips } from '../setup/call-plan.ts';
import type { CallServices } from '../setup/call-services.ts';
import { firstWordsOf, renderFirstWords, type WordsPlan } from '../setup/first-words.ts';
import type { ClipLibrary } from '../setup/sound-library.ts';
import {
  type CampaignPlanDeps,
  CampaignPlans,
  type CampaignRoute,
  callerOf,
  REFUSALS,
} from './campaign-plans.ts';
import type { DialRequestOfRun, ProviderDial } from './dial.ts';
import { callsPerSecondOf, type DialPace } from './dial-pace.ts';

/** Longest wait of a dial. Words that take longer are ready while the phone rings. */
const WAIT_MS_MAX = 1_500;
/** Age of a look at the run from which it counts no more: a client may have hung the run up, or another process closed it
 *  for this one, which stood still. Then the contact is called again, or must not be. Shorter than a death is noticed. */
const LOOKED_MS_MAX = 1_000;
/** Agents in memory: those of campaigns that dial at the same time. */
const AGENTS_MAX = 100;
/** Time after which an agent's services are read again: they may have changed. */
const KEPT_MS = 60_000;

/** Result of a dial. `placed`: the phone rings. `put-off`: the provider is at its limit. `fault`: the provider was
 *  not reached, so nothing was placed. `in-doubt`: the request failed, and the phone may ring. `refused`: the
 *  provider refused, the run is completed. `closed`: the dial could not be sent, the run is completed, or
 *  another process's. */
export type Placed = 'placed' | 'put-off' | 'fault' | 'in-doubt' | 'refused' | 'closed';

/** A dial for an attempt that another process has claimed, with its run. */
export interface ClaimedDial {
  attemptId: string;
  runId: string;
  organizationId: string;
  configurationId: string;
  /** The caller id, normalized; null: the far side's default. */
  from: string | null;
  to: string;
  campaignId: string;
  /** The campaign's rate limit. */
  ratePerSecond: number;
  /** Milliseconds from the request to the dial's turn: 0 to 500. */
  waitMs: number;
}

/** An attempt that has begun. */
export interface BegunAttempt {
  run: Run;
  /** Milliseconds from now to the dial's turn: 0 to 500. */
  waitMs: number;
}

/** The dispatcher's interface. */
export type CampaignCallService = Pick<
  CampaignCalls,
  'takesCalls' | 'routeOf' | 'runOf' | 'place' | 'outcomeAfterCrash'
>;

export interface CampaignCallsDeps {
  plans: CampaignPlanDeps;
  store: Pick<Store, 'runs' | 'contacts'>;
  dial: ProviderDial;
  pace: DialPace;
  words: Pick<CampaignWords, 'ready'>;
  connect: Pick<ConnectServices, 'registry' | 'watchdog' | 'unconnected'>;
  /** Whether this process accepts one more call. */
  takesCalls: () => boolean;
}

export class CampaignCalls extends CampaignPlans {
  readonly #deps: CampaignCallsDeps;

  constructor(deps: CampaignCallsDeps) {
    super(deps.plans);
    this.#deps = deps;
  }

  /** Whether this process accepts one more call at this moment. */
  get takesCalls(): boolean {
    return this.#deps.takesCalls();
  }

  /** Places a call for an attempt. Never rejects because of the provider. */
  async place(
    campaignRoute: CampaignRoute,
    claim: ClaimedAttempt,
    { run, waitMs }: BegunAttempt,
  ): Promise<Placed> {
    const { configuration, provider } = campaignRoute;
    const { clock } = this.#deps.plans;
    const begunMs = clock.monotonicMs();
    const turnMs = begunMs + waitMs;
    const route = { configuration, provider, from: callerOf(campaignRoute, claim) };
    const placement = { run, route, to: claim.phoneNumber, version: campaignRoute.version };
    await this.#deps.words.ready(placement);
    const leftMs = turnMs - clock.monotonicMs();
    if (leftMs > 0) await new Promise<void>((resolve) => clock.after(leftMs, resolve));
    return this.#place(placement, begunMs);
  }

  /** Places a claimed call; this process owns the run from then on. An unclear result is stored here: the process
   *  that asked may be dead by then, and the next one would dial again. Throws STORE_UNAVAILABLE before anything is
   *  sent. */
  async placeClaimed(dial: ClaimedDial): Promise<Placed> {
    const { store, plans, pace, words } = this.#deps;
    const { attemptId, runId, to, campaignId, ratePerSecond } = dial;
    const begunMs = plans.clock.monotonicMs();
    const turnMs = begunMs + dial.waitMs;
    if (!this.takesCalls) return 'put-off';
    const [route, run] = await Promise.all([plans.routes.chosen(dial), this.#adopt(runId)]);
    if (run?.state === 'initialized' && route !== undefined) await words.ready({ run, route, to });
    const callsPerSecond = route === undefined ? null : callsPerSecondOf(route);
    const account = { id: dial.configurationId, callsPerSecond };
    const waitMs = Math.max(0, turnMs - plans.clock.monotonicMs());
    if (!(await pace.turn({ campaignId, ratePerSecond, account, waitMs }))) return 'put-off';
    if (run?.state !== 'initialized' || route === undefined) return 'fault';
    const placed = await this.#place({ run, route, to }, begunMs);
    if (placed === 'in-doubt') {
      await store.contacts.doubt(attemptId).catch((error: unknown) => {
        plans.log.error({ err: error, attemptId }, 'unclear dial not stored');
      });
    }
    return placed;
  }

  /** The run; this process owns it if its call has not ended. */
  async #adopt(runId: string): Promise<Run | undefined> {
    const { runs } = this.#deps.store;
    return (await runs.adopt(runId)) ?? (await runs.find(runId));
  }

  /** Whether the run waits for its call, and is this process's. */
  async #isWaiting({ id }: Run): Promise<boolean> {
    const { runs } = this.#deps.store;
    const [current, owner] = await Promise.all([runs.find(id), runs.owner(id)]);
    return current?.state === 'initialized' && owner?.isOwn === true;
  }

  /** Dials, unless the run is over or another process's. `lookedMs`: when it was seen that it is not, monotonic. Never
   *  rejects because of the provider. */
  async #place(placement: DialRequestOfRun, lookedMs: number): Promise<Placed> {
    const { run, route } = placement;
    const isOld = this.#deps.plans.clock.monotonicMs() - lookedMs > LOOKED_MS_MAX;
    if (isOld && !(await this.#isWaiting(run))) return 'closed';
    const { configuration, provider } = route;
    const call = { run, configuration, provider };
    callsStarted.inc({ provider: provider.name, direction: 'outbound' });
    const { dial, connect } = this.#deps;
    connect.watchdog.dialled(call);
    await dial.record.expect(placement);
    try {
      await dial.record.dialled(run, await dial.send(placement));
    } catch (error) {
      return this.#unplaced(call, placement, error);
    }
    await this.#noteCreated(placement);
    return 'placed';
  }

  async #unplaced(
    call: UnconnectedCall,
    placement: DialRequestOfRun,
    error: unknown,
  ): Promise<Exclude<Placed, 'placed'>> {
    const { dial, connect, plans } = this.#deps;
    const { id: runId } = placement.run;
    const code = codeOf(error) ?? 'UNEXPECTED';
    callsRefused.inc({ code });
    if (code === 'PROVIDER_CAPACITY' || UNSENT.has(code)) {
      connect.registry.removeUnconnected(runId);
      dial.record.forget(placement);
      return code === 'PROVIDER_CAPACITY' ? 'put-off' : 'fault';
    }
    plans.log.warn({ err: error, runId }, 'call of a campaign not placed, or its dial is unclear');
    if (!REFUSALS.has(code)) {
      // The run stays open: if the call is answered, the agent talks.
      await dial.record.doubt(placement, { code, message: messageOf(error) });
      return 'in-doubt';
    }
    await this.#noteCreated(placement);
    await connect.unconnected.fail(call, error);
    return code === 'CONTEXT_OVERSIZED' ? 'closed' : 'refused';
  }

  /** Logs the first event. An unavailable store must not turn a ringing call into a failure. */
  async #noteCreated(placement: DialRequestOfRun): Promise<void> {
    try {
      await this.#deps.dial.record.created(placement);
    } catch (error) {
      this.#deps.plans.log.error(
        { err: error, runId: placement.run.id },
        'first event of the call not logged',
      );
    }
  }
}

/** Codes of dials whose request was not sent. */
const UNSENT = new Set(['PROVIDER_FAILED', 'PBX_NOT_CONNECTED']);

function messageOf(error: unknown): string {
  return error instanceof GatewayError ? error.message : 'unexpected error';
}

interface CampaignWordsDeps {
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

/** First words of a campaign's calls. The worker renders them and decodes the agent's clips before it dials: the agent
 *  speaks as soon as a call is answered, and calls that are answered together do not all render at that moment. */
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
    const first = { name: '', version, graph: parseGraph(definition), tools: NO_TOOLS };
    const agents = { first, others: new Map() };
    return { plan: planCall({ run, ...route, agents, speech, sounds }), readAtMs };
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
