// Settles attempts whose run is completed, once each; postpones contacts whose dial placed no call; and checks the
// campaign's circuit breaker.

import type { CampaignCallService } from '../call/start/outbound/campaign-calls.ts';
import type { Log } from '../log.ts';
import { campaignAttempts } from '../metrics/metrics.ts';
import {
  type AttemptOutcome,
  BREAKER_DEFAULT,
  type BreakerSettings,
  type Campaign,
  type CampaignLogEntry,
  RETRY_DEFAULT,
  UNHEARD,
} from '../model/campaign.ts';
import type { Clock } from '../std/clock.ts';
import { SETTLE_MAX } from '../store/campaigns/attempt-settlement.ts';
import type { CampaignShard } from '../store/campaigns/campaign-shards.ts';
import type { OpenAttempt } from '../store/campaigns/dial-attempts.ts';
import type { Store } from '../store/store.ts';
import { contactOutcomeOf, settlementOf } from './contact-outcome.ts';
import { LookUps, type Verdict } from './look-ups.ts';

export interface SettlerDeps {
  store: Store;
  calls: CampaignCallService;
  clock: Clock;
  log: Log;
  /** See `AttemptLimits`. */
  interruptedExtra: number;
}

/** Campaigns of one page of attempts, as they are read, by id. */
type Campaigns = Map<string, Campaign | undefined>;

export class AttemptSettler {
  readonly #deps: SettlerDeps;
  readonly #lookUps: LookUps;
  /** Campaigns whose circuit breaker has seen every attempt settled here. */
  readonly #watched = new Set<string>();

  /** `onAnswer` is called when a provider has answered about a call. */
  constructor(deps: SettlerDeps, onAnswer: () => void) {
    this.#deps = deps;
    this.#lookUps = new LookUps(deps, onAnswer);
  }

  /** Settles all attempts that are due, of the campaigns of `shard`: one gateway asks a provider about each. Waits only
   *  for the store: providers are asked in parallel. */
  async settleAll(shard?: CampaignShard): Promise<void> {
    const open = new Set<string>();
    for (let last: string | undefined, isMore = true; isMore; ) {
      const attempts = await this.#deps.store.contacts.settleable(last, shard);
      for (const { id } of attempts) open.add(id);
      await this.#settleEach(attempts);
      last = attempts.at(-1)?.id;
      isMore = attempts.length === SETTLE_MAX;
    }
    this.#lookUps.keepOnly(open);
  }

  /** There is no such attempt. */
  settleNone(): void {
    this.#lookUps.keepOnly(new Set());
  }

  async #settleEach(attempts: readonly OpenAttempt[]): Promise<void> {
    const campaigns = new Map<string, Campaign | undefined>();
    for (const attempt of attempts) {
      const { run } = attempt;
      const told = contactOutcomeOf(attempt);
      const isUnclear = told === 'look-up' && run !== undefined;
      const verdict = isUnclear ? this.#lookUps.verdictOf(attempt, run) : told;
      if (verdict === undefined || verdict === 'look-up') continue;
      try {
        await this.#end(attempt, verdict, campaigns);
      } catch (error) {
        this.#deps.log.error({ err: error, attemptId: attempt.id }, 'attempt not settled');
      }
    }
  }

  async #end(attempt: OpenAttempt, verdict: Verdict, campaigns: Campaigns): Promise<void> {
    if (verdict === 'not-there') {
      const delayMs = putOffMs(attempt);
      if (delayMs !== undefined) return this.#putOff(attempt, delayMs);
    }
    // While the run is open the callee may still answer; its watchdog closes it.
    if (attempt.run?.state === 'initialized') return;
    await this.#settle(attempt, verdict === 'not-there' ? 'not_placed' : verdict, campaigns);
  }

  async #putOff({ id, campaignId, putOffs }: OpenAttempt, delayMs: number): Promise<void> {
    const { store, log } = this.#deps;
    this.#lookUps.forget(id); // A call has turned up: the provider is asked again.
    if (!(await store.contacts.putOff(id, delayMs))) return;
    log.info(
      { campaignId, attemptId: id, putOffs: putOffs + 1, delayMs },
      'no call placed: contact postponed',
    );
  }

  async #settle(
    attempt: OpenAttempt,
    outcome: AttemptOutcome,
    campaigns: Campaigns,
  ): Promise<void> {
    const { store, interruptedExtra } = this.#deps;
    const limits = { retry: await this.#retryOf(attempt, campaigns), interruptedExtra };
    const settlement = settlementOf(outcome, attempt, limits);
    this.#watched.delete(attempt.campaignId);
    if (await store.contacts.settle(attempt.id, settlement)) campaignAttempts.inc({ outcome });
    this.#lookUps.forget(attempt.id);
  }

  /** The campaign's current retry settings: changed settings apply from the next page of outcomes on. */
  async #retryOf({ run, campaignId }: OpenAttempt, campaigns: Campaigns) {
    if (run === undefined) return RETRY_DEFAULT; // The run is deleted: no retry.
    if (!campaigns.has(campaignId)) {
      const campaign = await this.#deps.store.campaigns.get(run.organizationId, campaignId);
      campaigns.set(campaignId, campaign);
    }
    return campaigns.get(campaignId)?.retry ?? RETRY_DEFAULT;
  }

  /** Removes campaigns that no longer run: when one runs again, its circuit breaker is checked first. */
  watchOnly(running: ReadonlySet<string>): void {
    for (const id of this.#watched) if (!running.has(id)) this.#watched.delete(id);
  }

  /** Checks the circuit breaker. Returns true if the campaign is now stopped. Checks only if attempts were settled
   *  since the last check, or if this process has not checked yet. */
  async tripBreaker({ id, breaker }: Campaign): Promise<boolean> {
    if (this.#watched.has(id)) return false;
    const { store, log } = this.#deps;
    const windowMs = (breaker ?? BREAKER_DEFAULT).windowS * 1_000;
    const entry = isCircuitOpen(await store.contacts.recentOutcomes(id, windowMs), breaker);
    const isTripped = entry !== undefined && (await store.contacts.stop(id, entry));
    this.#watched.add(id);
    if (!isTripped) return false;
    log.warn({ campaignId: id, ...entry.details }, 'campaign stopped by its circuit breaker');
    return true;
  }
}

/** Consecutive dials of a contact that may place no call. */
const PUT_OFFS_MAX = 10;
/** Longest backoff, counted from the first of these dials. */
const PUT_OFF_MS_MAX = 24 * 3_600_000;
/** Pause, doubled each time: the last dial comes half a day after the first. */
const AGAIN_MS = { first: 60_000, most: 4 * 3_600_000 };

/** Backoff of a contact whose dial the provider failed without placing a call: time until it is due again, within its
 *  campaign's hours. Undefined if the limits are reached. */
function putOffMs({
  putOffs,
  putOffMs: sinceMs,
}: Pick<OpenAttempt, 'putOffs' | 'putOffMs'>): number | undefined {
  if (putOffs >= PUT_OFFS_MAX || (sinceMs ?? 0) >= PUT_OFF_MS_MAX) return undefined;
  return Math.min(AGAIN_MS.most, AGAIN_MS.first * 2 ** putOffs);
}

/** Busy and unanswered calls show that calls reach their destination. */
const FAILURES: readonly AttemptOutcome[] = ['failed', 'error'];

/** The circuit breaker (contract §9.6, §9.7): the log entry with which the campaign stops; undefined while it may go
 *  on. `outcomes`: those in the breaker's window. */
export function isCircuitOpen(
  outcomes: ReadonlyMap<AttemptOutcome, number>,
  settings: BreakerSettings | null,
): Omit<CampaignLogEntry, 'at'> | undefined {
  const { enabled, failureThreshold, windowS, minCalls } = settings ?? BREAKER_DEFAULT;
  if (!enabled) return undefined;
  // Calls interrupted by our own stop, and dials that a provider failed, are left out: campaigns wait for such a
  // provider, and resume by themselves.
  const calls = sum(
    [...outcomes].flatMap(([name, count]) => (UNHEARD.includes(name) ? [] : count)),
  );
  const failures = sum(FAILURES.map((name) => outcomes.get(name) ?? 0));
  // With a threshold of 0 a single failure is enough.
  if (failures === 0 || calls < minCalls || failures / calls < failureThreshold) return undefined;
  return {
    level: 'warning',
    event: 'circuit_breaker_tripped',
    message: `${failures} of the last ${calls} calls failed: find out why, then resume the campaign`,
    details: {
      failure_rate: failures / calls,
      failure_count: failures,
      success_count: calls - failures,
      threshold: failureThreshold,
      window_seconds: windowS,
    },
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
