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
import { outcomeOf, settlementOf } from './outcome.ts';

/** Times that a provider is asked for a call that was under way when our process stopped. */
const LOOKS_MAX = 20;
/** Between them. */
const LOOK_AGAIN_MS = 15_000;
/** Attempts that one pass asks the provider for: each takes a request. */
const LOOKS_AT_ONCE = 8;

export interface SettlerDeps {
  store: Store;
  calls: CampaignDesk;
  clock: Clock;
  log: Log;
}

export class Settler {
  readonly #deps: SettlerDeps;
  /** By attempt: how often the provider was asked, and when it may be asked again. */
  readonly #looks = new Map<string, { count: number; nextMs: number }>();

  constructor(deps: SettlerDeps) {
    this.#deps = deps;
  }

  async settleAll(): Promise<void> {
    const open = await this.#deps.store.contacts.settleable();
    const unknown = open.filter((attempt) => outcomeOf(attempt) === 'look-up');
    const due = unknown.filter(({ id }) => this.#mayLook(id)).slice(0, LOOKS_AT_ONCE);
    const found = new Map(
      await Promise.all(due.map(async (each) => [each.id, await this.#lookUp(each)] as const)),
    );
    for (const attempt of open) {
      const told = outcomeOf(attempt);
      const outcome = told === 'look-up' ? found.get(attempt.id) : told;
      if (outcome !== undefined) await this.#settle(attempt, outcome);
    }
  }

  async #settle(attempt: OpenAttempt, outcome: AttemptOutcome): Promise<void> {
    const { store, clock } = this.#deps;
    const retry = await this.#retryOf(attempt);
    const settlement = settlementOf(outcome, attempt, retry, clock.now());
    if (await store.contacts.settle(attempt.id, settlement)) campaignAttempts.inc({ outcome });
    this.#looks.delete(attempt.id);
  }

  /** As the campaign is set now; changed settings hold from the next outcome on. */
  async #retryOf({ run, campaignId }: OpenAttempt) {
    if (run === undefined) return RETRY_DEFAULT; // Nothing is called again for a run that is gone.
    const campaign = await this.#deps.store.campaigns.get(run.organizationId, campaignId);
    return campaign?.retry ?? RETRY_DEFAULT;
  }

  #mayLook(attemptId: string): boolean {
    const { nextMs } = this.#looks.get(attemptId) ?? { nextMs: 0 };
    return this.#deps.clock.monotonicMs() >= nextMs;
  }

  /** Undefined while the provider cannot say. */
  async #lookUp({ id, run }: OpenAttempt): Promise<AttemptOutcome | undefined> {
    if (run === undefined) return 'unknown';
    try {
      return (await this.#deps.calls.hangUpLost(run)) ? 'interrupted' : 'unknown';
    } catch (error) {
      const count = (this.#looks.get(id)?.count ?? 0) + 1;
      const nextMs = this.#deps.clock.monotonicMs() + LOOK_AGAIN_MS;
      this.#looks.set(id, { count, nextMs });
      this.#deps.log.warn({ code: codeOf(error), runId: run.id, count }, 'call not looked up');
      return count < LOOKS_MAX ? undefined : 'unknown';
    }
  }

  /** True if the campaign is stopped now. */
  async tripBreaker({ id, breaker }: Campaign): Promise<boolean> {
    const { store, clock, log } = this.#deps;
    const windowMs = (breaker ?? BREAKER_DEFAULT).windowS * 1_000;
    const since = new Date(clock.now() - windowMs);
    const entry = tripped(await store.contacts.recentOutcomes(id, since), breaker);
    if (entry === undefined || !(await store.contacts.stop(id, entry))) return false;
    log.warn({ campaignId: id, ...entry.details }, 'campaign stopped by its breaker');
    return true;
  }
}
