// Campaign dispatcher: settles ended attempts, completes finished campaigns, and dials due contacts, for all
// organizations, on any number of gateways, which divide the campaigns (campaign-shards.ts). All durable state is in the
// store; state here (timers, pauses after a provider's refusal) may be lost at any moment. Source: contract §9.8.

import type { CampaignCallService, Placed } from '../call/start/outbound/campaign-calls.ts';
import type { CampaignRoute } from '../call/start/outbound/campaign-plans.ts';
import { callsPerSecondOf } from '../call/start/outbound/dial-pace.ts';
import { codeOf } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import { campaignDeferred, campaignDials, campaignRetryLateSeconds } from '../metrics/metrics.ts';
import type { Campaign } from '../model/campaign.ts';
import { SharedReads } from '../std/batches.ts';
import type { Clock } from '../std/clock.ts';
import { JobLoop } from '../std/job-loop.ts';
import type { Random } from '../std/random.ts';
import type { CampaignShard } from '../store/campaigns/campaign-shards.ts';
import type { ClaimedAttempt, RunningCampaign } from '../store/campaigns/dial-attempts.ts';
import type { DispatchLook } from '../store/campaigns/dispatch-look.ts';
import type { Store } from '../store/store.ts';
import { AttemptSettler } from './attempt-settler.ts';
import { isWithinCallingWindow, nextCallingWindow } from './calling-window.ts';
import { sourceKeyOf } from './contact-file.ts';
import {
  type CallCapacity,
  CallCapacityOfTick,
  DialLead,
  FailingProviders,
  ProviderPauses,
} from './dial-limits.ts';
import { noteTelephonyAway, noteTelephonyBack } from './telephony-wait.ts';

/** Interval of rounds while a campaign runs, and while none does. */
const LOOK_MS = 500;
const IDLE_LOOK_MS = 3_000;
/** Shortest interval of rounds that ended calls cause. */
const WOKEN_LOOK_MS = 50;
/** How far claims reach into the future, and as far again if rounds are slow: a killed process holds no more than
 *  that. */
const HORIZON_MS = 1_000;
/** Part of that horizon that must be used up before a campaign claims again: claims take a dozen statements, and
 *  rounds that ended calls cause come every 50 ms. */
const CLAIM_AGAIN_MS = 250;
const CLAIMS_MAX = 200;
/** Lease of a claim. A claim that was not started by then has lost its process. */
const LEASE_MS = 30_000;
/** Deadline of a stop: longer than a claim waits for its turn. */
const STOP_MS = 3_000;
/** Delay of a contact that the provider had no capacity for, or whose dial did not reach it. */
const PUT_OFF_MS = 2_000;

export interface DispatcherDeps {
  store: Store;
  calls: CampaignCallService;
  /** Name of this process in `runs.owner_node`. */
  node: string;
  clock: Clock;
  random: Random;
  log: Log;
  /** Reads the contact file of one waiting campaign; resolves with false if none waits. */
  syncNext: (signal: AbortSignal) => Promise<boolean>;
  /** Calls in addition to a campaign's retries, at most one for each call that the gateway's own stops interrupted. */
  interruptedExtra: number;
}

export class Dispatcher {
  /** Called with a pause of a configuration whose provider has no capacity, for the dispatchers of other gateways. */
  onPaused: ((configurationId: string, ms: number) => void) | undefined;
  readonly #deps: DispatcherDeps;
  readonly #settler: AttemptSettler;
  readonly #loop: JobLoop;
  /** Whether the other processes count on this one for its share of the campaigns. */
  #hasShare = false;
  /** Whether a campaign ran in the last round. */
  #isAnyRunning = false;
  #syncing: Promise<void> | undefined;
  /** Claims that wait for their turn or whose dial is in progress. */
  readonly #dialling = new Set<Promise<void>>();
  /** Attempts of these claims. */
  readonly #mine = new Set<string>();
  /** Attempts whose request may have been sent, until their result is stored. */
  readonly #sent = new Map<string, 'placed' | 'in-doubt'>();
  readonly #faults: FailingProviders;
  readonly #lead = new DialLead();
  /** Duration of the last round, in milliseconds. */
  #roundMs = 0;
  #keptOrderMs = Number.NEGATIVE_INFINITY;
  readonly #campaigns = new SharedReads<Campaign | undefined>();
  readonly #pauses: ProviderPauses;
  /** Why running campaigns have placed no call since their last one. */
  readonly #waits = new Map<string, string>();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#settler = new AttemptSettler(deps, () => this.wake());
    this.#faults = new FailingProviders(deps);
    this.#pauses = new ProviderPauses(deps.clock);
    this.#loop = new JobLoop({
      clock: deps.clock,
      everyMs: () => (this.#isAnyRunning ? LOOK_MS : IDLE_LOOK_MS),
      wokenMs: WOKEN_LOOK_MS,
      retryMs: IDLE_LOOK_MS,
      run: (signal) => this.#look(signal),
      onError: (error) => deps.log.error({ err: error }, 'campaigns wait for the store'),
    });
  }

  /** Starts a round when a call has ended, if a campaign runs: otherwise there would be nothing to dial. */
  noteCompleted(): void {
    if (this.#isAnyRunning) this.wake();
  }

  /** Notes that another gateway has paused a configuration for `ms`. */
  notePause(configurationId: string, ms: number): void {
    this.#pauses.note(configurationId, ms);
  }

  /** Starts the rounds. Throws STORE_UNAVAILABLE. */
  async start(): Promise<void> {
    await this.#deps.store.contacts.releaseClaims(this.#deps.node);
    await this.#shareIfAble();
    void this.#loop.start();
  }

  /** Starts a round because the state has changed, for example when a campaign was started. */
  wake(): void {
    void this.#loop.wake();
  }

  /** Stops claiming and gives back claims that were not dialled. Dials that wait for the provider's answer go on:
   *  draining waits for the calls. */
  async stop(): Promise<void> {
    this.#hasShare = false;
    void this.#deps.store.setDialsCampaigns(false);
    const done = Promise.allSettled([this.#loop.stop(), this.#syncing, ...this.#dialling]);
    await Promise.race([
      done,
      new Promise<void>((resolve) => this.#deps.clock.after(STOP_MS, resolve)),
    ]);
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    const startedMs = clock.monotonicMs();
    await this.#round(signal);
    this.#roundMs = clock.monotonicMs() - startedMs;
  }

  /** The next round's claims are made after the interval and the time of the round itself: without the latter, turns
   *  would be lost. */
  get #horizonMs(): number {
    return HORIZON_MS + Math.min(HORIZON_MS, this.#roundMs);
  }

  async #round(signal: AbortSignal): Promise<void> {
    const { store, log } = this.#deps;
    const { contacts } = store;
    await this.#shareIfAble();
    const shard = this.#shard;
    const look = await contacts.look(shard);
    if (look.hasUnreadFile) this.#syncing ??= this.#syncAll(signal);
    if (look.hasSettleable) await this.#settler.settleAll(shard);
    else this.#settler.settleNone();
    await this.#noteSent();
    await this.#keepOrder(look, shard);
    if (look.hasDone || look.hasSettleable) await this.#completeDone();
    const horizonMs = this.#horizonMs - CLAIM_AGAIN_MS;
    const running = look.isAnyRunning ? await contacts.running(horizonMs, shard) : [];
    this.#isAnyRunning = running.length > 0;
    const ids = new Set(running.map(({ campaign }) => campaign.id));
    this.#settler.watchOnly(ids);
    for (const id of this.#waits.keys()) if (!ids.has(id)) this.#waits.delete(id);
    const freeCalls = new CallCapacityOfTick(store);
    for (const each of running) {
      if (signal.aborted) break;
      try {
        await this.#serve(each, freeCalls);
      } catch (error) {
        // A fault of one campaign does not affect the others.
        log.error({ err: error, campaignId: each.campaign.id }, 'campaign not dispatched');
      }
    }
  }

  /** Campaigns of this process: all, unless others dial too. A process at its limit of load leaves its share to them. */
  get #shard(): CampaignShard | undefined {
    const { store, node } = this.#deps;
    const others = store.nodes.diallers.filter((each) => each !== node);
    if (others.length === 0) return undefined;
    return { own: node, all: this.#hasShare ? [...others, node] : others };
  }

  async #shareIfAble(): Promise<void> {
    const { store, calls } = this.#deps;
    if (this.#hasShare === calls.takesCalls || this.#loop.hasStopped) return;
    this.#hasShare = calls.takesCalls;
    await store.setDialsCampaigns(this.#hasShare);
  }

  async #completeDone(): Promise<void> {
    const { store, log } = this.#deps;
    for (const campaignId of await store.contacts.completeDone()) {
      log.info({ campaignId }, 'campaign completed');
    }
  }

  /** Does work that is not urgent: rounds that ended calls cause, many a second, skip it. */
  async #keepOrder(look: DispatchLook, shard: CampaignShard | undefined): Promise<void> {
    const { store, clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#keptOrderMs < LOOK_MS) return;
    if (look.hasExpired) await store.contacts.releaseClaims(undefined);
    if (look.hasStranded) await this.#giveBackStranded();
    await this.#measure(look, shard);
    this.#keptOrderMs = nowMs;
  }

  async #measure({ isAnyRunning }: DispatchLook, shard: CampaignShard | undefined): Promise<void> {
    const { store, clock } = this.#deps;
    const first = isAnyRunning ? await store.contacts.firstRetry(shard) : undefined;
    const due = first?.getTime() ?? clock.now();
    campaignRetryLateSeconds.set(Math.max(0, clock.now() - due) / 1_000);
  }

  /** Reads waiting contact files, in parallel with the rounds: a long file delays no call. Never rejects. */
  async #syncAll(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted && (await this.#deps.syncNext(signal))) this.wake();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'contact file not read yet');
    } finally {
      this.#syncing = undefined;
    }
  }

  /** Claims and dials for one campaign. Requests no more from the store than needed: most campaigns have no due
   *  contact at a moment. */
  async #serve(
    { campaign, isDue, openAttempts }: RunningCampaign,
    freeCalls: CallCapacityOfTick,
  ): Promise<void> {
    if (await this.#settler.tripBreaker(campaign)) return;
    if (!isDue) return;
    if (!isWithinCallingWindow(campaign.schedule, this.#deps.clock.now())) {
      this.#defer(campaign, 'window');
      return;
    }
    if (!this.#deps.calls.takesCalls) {
      this.#defer(campaign, 'load');
      return;
    }
    const calls = await freeCalls.of(campaign.organizationId);
    if (calls.free === 0) {
      campaignDeferred.inc({ reason: 'slots' });
      return;
    }
    if (openAttempts >= (campaign.maxConcurrency ?? calls.limit)) return;
    const route = await this.#routeOf(campaign);
    if (route === undefined) return;
    if (this.#pauses.isPaused(route.configuration.id)) {
      this.#defer(campaign, 'provider');
      return;
    }
    const claims = await this.#claim(route, calls);
    calls.free -= claims.length;
    if (claims.length > 0) this.#waits.delete(campaign.id);
    for (const claim of claims) this.#dialInTurn(route, claim);
  }

  /** Counts a deferral, and logs the first of a series. */
  #defer(campaign: Campaign, reason: 'window' | 'load' | 'provider'): void {
    campaignDeferred.inc({ reason });
    const { id: campaignId } = campaign;
    if (this.#waits.get(campaignId) === reason) return;
    this.#waits.set(campaignId, reason);
    const untilMs =
      reason === 'window'
        ? nextCallingWindow(campaign.schedule, this.#deps.clock.now())
        : undefined;
    const until = untilMs === undefined ? null : new Date(untilMs).toISOString();
    this.#deps.log.info({ campaignId, reason, until }, 'campaign waits');
  }

  /** Stores the results of dials whose telephone may ring, where they are not stored yet. */
  async #noteSent(): Promise<void> {
    for (const [attemptId, how] of this.#sent) {
      if (!this.#mine.has(attemptId)) await this.#noteCall(attemptId, how);
    }
  }

  async #noteCall(attemptId: string, how: 'placed' | 'in-doubt'): Promise<void> {
    const { contacts } = this.#deps.store;
    this.#sent.set(attemptId, how);
    await (how === 'placed' ? contacts.placed(attemptId) : contacts.doubt(attemptId));
    this.#sent.delete(attemptId);
  }

  /** Gives back attempts that this process has begun without its knowledge: the store's answer was lost, nothing was
   *  sent. */
  async #giveBackStranded(): Promise<void> {
    const { store, node } = this.#deps;
    for (const attemptId of await store.contacts.stranded(node)) {
      if (this.#mine.has(attemptId)) continue;
      await store.contacts.releaseAttempt(attemptId, 0);
    }
  }

  /** The campaign's route. Pauses the campaign if no call can be placed and a person must correct the cause. For a
   *  PBX that is not connected the campaign waits, with an entry in its log. */
  async #routeOf(campaign: Campaign): Promise<CampaignRoute | undefined> {
    try {
      const route = await this.#deps.calls.routeOf(campaign);
      await noteTelephonyBack(this.#deps.store, campaign);
      return route;
    } catch (error) {
      const code = codeOf(error);
      if (code === undefined || code.startsWith('STORE_')) throw error;
      if (code === 'CONFIGURATION_INACTIVE') {
        this.#defer(campaign, 'provider');
        await noteTelephonyAway(this.#deps.store, campaign, error);
        return undefined;
      }
      const reason = error instanceof Error ? error.message : code;
      await this.#deps.store.contacts.stop(campaign.id, {
        level: 'error',
        event: 'calls_not_possible',
        message: `Paused: ${reason.replace(/\.$/, '')}. Correct it, then resume the campaign`,
        details: { code },
      });
      return undefined;
    }
  }

  #claim(route: CampaignRoute, { free, limit }: CallCapacity): Promise<ClaimedAttempt[]> {
    const { campaign, configuration } = route;
    return this.#deps.store.contacts.claim(campaign.id, {
      count: Math.min(CLAIMS_MAX, free),
      openMax: campaign.maxConcurrency ?? limit,
      ratePerSecond: campaign.ratePerSecond,
      configuration: { id: configuration.id, callsPerSecond: callsPerSecondOf(route) },
      horizonMs: this.#horizonMs,
      leaseMs: LEASE_MS,
    });
  }

  #dialInTurn(route: CampaignRoute, claim: ClaimedAttempt): void {
    const { clock, log } = this.#deps;
    const turnMs = clock.monotonicMs() + claim.waitMs;
    const beginMs = Math.max(0, claim.waitMs - this.#lead.ms);
    const work = new Promise<void>((resolve) => clock.after(beginMs, resolve))
      .then(() => this.#dial(route, claim, turnMs))
      .catch((error: unknown) => {
        // The claim expires, or recovery closes its run.
        log.error({ err: error, attemptId: claim.attemptId }, 'attempt not made');
      })
      .finally(() => {
        this.#dialling.delete(work);
        this.#mine.delete(claim.attemptId);
      });
    this.#dialling.add(work);
    this.#mine.add(claim.attemptId);
  }

  /** Begins the attempt, and places its call at `turnMs`, in monotonic milliseconds. */
  async #dial(route: CampaignRoute, claim: ClaimedAttempt, turnMs: number): Promise<void> {
    const { store, calls, clock } = this.#deps;
    const { attemptId } = claim;
    const startedMs = clock.monotonicMs();
    const run = (await this.#mayDial(route)) ? await this.#begin(route, claim) : undefined;
    if (run === undefined) return store.contacts.releaseAttempt(attemptId, 0);
    const begunMs = clock.monotonicMs();
    this.#lead.took(begunMs - startedMs);
    this.#sent.set(attemptId, 'in-doubt');
    const placed = await calls.place(route, claim, { run, waitMs: Math.max(0, turnMs - begunMs) });
    campaignDials.inc({ result: placed });
    if (placed === 'placed' || placed === 'in-doubt') await this.#noteCall(attemptId, placed);
    else this.#sent.delete(attemptId);
    if (placed === 'put-off' || placed === 'fault') await this.#giveBack(attemptId);
    await this.#noteProvider(route, claim, placed);
    // A ringing call frees nothing, and claims reach further ahead than the next round.
    if (placed !== 'placed' && placed !== 'in-doubt') this.wake();
  }

  #giveBack(attemptId: string): Promise<void> {
    const { store, random } = this.#deps;
    return store.contacts.releaseAttempt(attemptId, PUT_OFF_MS + random.integer(PUT_OFF_MS));
  }

  /** Evaluates what the dial shows about the provider. */
  async #noteProvider(route: CampaignRoute, claim: ClaimedAttempt, placed: Placed): Promise<void> {
    const { id } = route.configuration;
    if (placed === 'put-off') {
      const pausedMs = this.#pauses.pause(id);
      if (pausedMs !== undefined) this.onPaused?.(id, pausedMs);
    }
    if (placed === 'placed') this.#pauses.end(id);
    if (placed === 'fault' || placed === 'in-doubt') return this.#faults.failed(route);
    if (placed !== 'closed') await this.#faults.answered(route, claim);
  }

  /** Whether the campaign's hours allow the dial at this moment: they may have changed since the claim. */
  async #mayDial({ campaign: claimed, configuration }: CampaignRoute): Promise<boolean> {
    const { store, clock } = this.#deps;
    if (this.#loop.hasStopped || this.#pauses.isPaused(configuration.id)) return false;
    if (!this.#deps.calls.takesCalls) {
      campaignDeferred.inc({ reason: 'load' });
      return false;
    }
    const campaign = await this.#campaigns.get(claimed.id, () =>
      store.campaigns.get(claimed.organizationId, claimed.id),
    );
    return campaign !== undefined && isWithinCallingWindow(campaign.schedule, clock.now());
  }

  /** Begins an attempt. Undefined if the campaign was paused or waits for its provider, or another process has taken
   *  the last free call. */
  async #begin(route: CampaignRoute, claim: ClaimedAttempt) {
    const { store, calls } = this.#deps;
    const run = calls.runOf(route, claim, sourceKeyOf(route.campaign.sourceId));
    try {
      return await store.contacts.begin(claim, run);
    } catch (error) {
      if (codeOf(error) !== 'CALL_LIMIT_REACHED') throw error;
      campaignDeferred.inc({ reason: 'slots' });
      return undefined;
    }
  }
}
