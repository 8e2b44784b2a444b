// Ends attempts whose run is completed, once each, and looks at how a campaign's calls go.

import type { CampaignDesk } from '../call/campaign-call.ts';
import { codeOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { campaignAttempts } from '../metrics.ts';
import {
  type AttemptOutcome,
  BREAKER_DEFAULT,
  type Campaign,
  RETRY_DEFAULT,
} from '../model/campaign.ts';
import type { Clock } from '../std/clock.ts';
import type { OpenAttempt } from '../store/contact-store.ts';
import type { Store } from '../store/store.ts';
import { tripped } from './breaker.ts';
import { outcomeOf, outcomeOfFate, settlementOf } from './outcome.ts';

/** Times that a provider is asked for a call that was under way when our process stopped. */
const LOOKS_MAX = 20;
/** Between them. */
const LOOK_AGAIN_MS = 15_000;
/** Attempts that the provider is asked for at a time. */
const LOOKS_AT_ONCE = 8;

const NO_LOOK: Look = { count: 0, nextMs: 0, isUnderWay: false, outcome: undefined };

export interface SettlerDeps {
  store: Store;
  calls: CampaignDesk;
  clock: Clock;
  log: Log;
}

/** A question to the provider. */
interface Look {
  count: number;
  nextMs: number;
  isUnderWay: boolean;
  /** Once it is known. */
  outcome: AttemptOutcome | undefined;
}

export class Settler {
  readonly #deps: SettlerDeps;
  /** Told when a question has its answer. */
  readonly #onAnswer: () => void;
  /** By attempt; as many as a stop has left open. */
  readonly #looks = new Map<string, Look>();
  /** Campaigns of which the breaker has seen every attempt that was settled here. */
  readonly #watched = new Set<string>();

  constructor(deps: SettlerDeps, onAnswer: () => void) {
    this.#deps = deps;
    this.#onAnswer = onAnswer;
  }

  /** Waits for the store only: providers are asked meanwhile. */
  async settleAll(): Promise<void> {
    const open = new Set<string>();
    for (;;) {
      const attempts = await this.#deps.store.contacts.settleable([...open].at(-1));
      if (attempts.length === 0) break;
      for (const { id } of attempts) open.add(id);
      await this.#settleEach(attempts);
    }
    // Those that another process has settled.
    for (const id of this.#looks.keys()) if (!open.has(id)) this.#looks.delete(id);
  }

  async #settleEach(attempts: readonly OpenAttempt[]): Promise<void> {
    for (const attempt of attempts) {
      const told = outcomeOf(attempt);
      const outcome = told === 'look-up' ? this.#answerOf(attempt) : told;
      if (outcome === undefined) continue;
      try {
        await this.#settle(attempt, outcome);
      } catch (error) {
        this.#deps.log.error({ err: error, attemptId: attempt.id }, 'attempt not settled');
      }
    }
  }

  /** What the provider has said; it is asked if it has not been. */
  #answerOf(attempt: OpenAttempt): AttemptOutcome | undefined {
    const look = this.#looks.get(attempt.id) ?? NO_LOOK;
    const underWay = [...this.#looks.values()].filter(({ isUnderWay }) => isUnderWay).length;
    const mayAsk = !look.isUnderWay && this.#deps.clock.monotonicMs() >= look.nextMs;
    if (look.outcome === undefined && mayAsk && underWay < LOOKS_AT_ONCE) {
      this.#looks.set(attempt.id, { ...look, isUnderWay: true });
      void this.#ask(attempt, look.count + 1);
    }
    return look.outcome;
  }

  /** Never rejects. */
  async #ask({ id, run }: OpenAttempt, count: number): Promise<void> {
    const nextMs = this.#deps.clock.monotonicMs() + LOOK_AGAIN_MS;
    const look: Look = { count, nextMs, isUnderWay: false, outcome: undefined };
    try {
      look.outcome = outcomeOfFate(run && (await this.#deps.calls.fateOf(run)));
    } catch (error) {
      this.#deps.log.warn({ code: codeOf(error), runId: run?.id, count }, 'call not looked up');
      if (count >= LOOKS_MAX) look.outcome = 'unknown';
    }
    this.#looks.set(id, look);
    if (look.outcome !== undefined) this.#onAnswer();
  }

  async #settle(attempt: OpenAttempt, outcome: AttemptOutcome): Promise<void> {
    const { store } = this.#deps;
    const retry = await this.#retryOf(attempt);
    const settlement = settlementOf(outcome, attempt, retry);
    this.#watched.delete(attempt.campaignId);
    if (await store.contacts.settle(attempt.id, settlement)) campaignAttempts.inc({ outcome });
    this.#looks.delete(attempt.id);
  }

  /** As the campaign is set now; changed settings hold from the next outcome on. */
  async #retryOf({ run, campaignId }: OpenAttempt) {
    if (run === undefined) return RETRY_DEFAULT; // Nothing is called again for a run that is gone.
    const campaign = await this.#deps.store.campaigns.get(run.organizationId, campaignId);
    return campaign?.retry ?? RETRY_DEFAULT;
  }

  /** Forgets campaigns that do not run any more: one that runs again is looked at first. */
  watchOnly(running: ReadonlySet<string>): void {
    for (const id of this.#watched) if (!running.has(id)) this.#watched.delete(id);
  }

  /** True if the campaign is stopped now. Looks only if attempts were settled since it did so last, or if
   *  this process has not looked yet. */
  async tripBreaker({ id, breaker }: Campaign): Promise<boolean> {
    if (this.#watched.has(id)) return false;
    const { store, log } = this.#deps;
    const windowMs = (breaker ?? BREAKER_DEFAULT).windowS * 1_000;
    const entry = tripped(await store.contacts.recentOutcomes(id, windowMs), breaker);
    const isTripped = entry !== undefined && (await store.contacts.stop(id, entry));
    this.#watched.add(id);
    if (!isTripped) return false;
    log.warn({ campaignId: id, ...entry.details }, 'campaign stopped by its breaker');
    return true;
  }
}
