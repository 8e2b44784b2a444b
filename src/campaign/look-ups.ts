// Looks up, at their providers, calls whose state the gateway lost: dials without a clear answer, and calls in progress
// when a process stopped. Providers' lists lag: two look-ups far enough apart prove that a call does not exist. The
// first of them is stored, the rest may be lost at any moment.

import type { CampaignCallService } from '../call/start/outbound/campaign-calls.ts';
import type { Fate } from '../call/start/outbound/campaign-plans.ts';
import { codeOf } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { AttemptOutcome } from '../model/campaign.ts';
import type { Run } from '../model/run.ts';
import type { Clock } from '../std/clock.ts';
import type { ContactStore } from '../store/campaigns/contact-store.ts';
import type { OpenAttempt } from '../store/campaigns/dial-attempts.ts';
import { contactOutcomeAfterCrash } from './contact-outcome.ts';

/** Time between two look-ups without a result that is enough for proof. Lists were observed to lag by 45 s. */
const PROOF_MS = 60_000;
/** Pause after the first look-up without a result: the next one is late enough to be the proof. */
const MISSED_AGAIN_MS = 30_500;
/** Pause after a failed look-up: shortest and longest. */
const FAILED_AGAIN_MS = { first: 15_000, most: 120_000 };
/** Time after which an attempt without an answer is abandoned. Provider outages last hours. */
const ASK_MS_MAX = 24 * 3_600_000;
/** Attempts that are looked up concurrently. */
const AT_ONCE_MAX = 8;

/** Result of look-ups. `not-there`: it is proved that no call was placed. */
export type Verdict = AttemptOutcome | 'not-there';

interface Look {
  /** Consecutive failures. */
  failures: number;
  nextMs: number;
  isUnderWay: boolean;
  /** The result, once there is one; it applies to the call with this id. */
  verdict: Verdict | undefined;
  callId: string | null;
}

export interface LookUpDeps {
  store: { contacts: Pick<ContactStore, 'placed' | 'missed'> };
  calls: Pick<CampaignCallService, 'outcomeAfterCrash'>;
  clock: Clock;
  log: Log;
}

export class LookUps {
  readonly #deps: LookUpDeps;
  /** Called when a provider has answered. */
  readonly #onAnswer: () => void;
  /** Look-ups by attempt; at most as many as attempts are open. */
  readonly #looks = new Map<string, Look>();

  constructor(deps: LookUpDeps, onAnswer: () => void) {
    this.#deps = deps;
    this.#onAnswer = onAnswer;
  }

  /** The current result; asks the provider if a look-up is due. */
  verdictOf(attempt: OpenAttempt, run: Run): Verdict | undefined {
    const { providerCallId: callId } = run;
    const known = this.#looks.get(attempt.id);
    const look = known?.callId === callId ? known : firstLook(callId);
    const underWay = [...this.#looks.values()].filter(({ isUnderWay }) => isUnderWay).length;
    const mayAsk = !look.isUnderWay && this.#deps.clock.monotonicMs() >= look.nextMs;
    if (look.verdict === undefined && mayAsk && underWay < AT_ONCE_MAX) {
      this.#looks.set(attempt.id, { ...look, isUnderWay: true });
      void this.#ask(attempt, run, look);
    }
    return look.verdict;
  }

  forget(attemptId: string): void {
    this.#looks.delete(attemptId);
  }

  /** Removes attempts that another process has settled. */
  keepOnly(open: ReadonlySet<string>): void {
    for (const id of this.#looks.keys()) if (!open.has(id)) this.#looks.delete(id);
  }

  /** Makes one look-up. Never rejects. */
  async #ask(attempt: OpenAttempt, run: Run, look: Look): Promise<void> {
    const { calls, clock, log } = this.#deps;
    let { failures } = look;
    let verdict: Verdict | undefined;
    try {
      const fate = await calls.outcomeAfterCrash(run);
      verdict = await this.#verdict(attempt, run, fate);
      failures = 0;
    } catch (error) {
      failures += 1;
      log.warn({ code: codeOf(error), runId: run.id, failures }, 'call not looked up');
      if (attempt.unclearMs >= ASK_MS_MAX) verdict = 'unknown';
    }
    const nextMs = clock.monotonicMs() + waitMsAfter(failures);
    const { callId } = look;
    this.#looks.set(attempt.id, { failures, nextMs, isUnderWay: false, verdict, callId });
    this.#onAnswer();
  }

  async #verdict(attempt: OpenAttempt, run: Run, fate: Fate): Promise<Verdict | undefined> {
    const { contacts } = this.#deps.store;
    if (fate === 'unknowable') return 'unknown';
    if (fate === 'there') {
      await contacts.placed(attempt.id);
      return undefined;
    }
    if (fate !== 'none') return contactOutcomeAfterCrash(fate, run);
    // The value from before this look-up.
    if (attempt.missedMs !== null && attempt.missedMs >= PROOF_MS) return 'not-there';
    await contacts.missed(attempt.id);
    return undefined;
  }
}

function firstLook(callId: string | null): Look {
  return { failures: 0, nextMs: 0, isUnderWay: false, verdict: undefined, callId };
}

function waitMsAfter(failures: number): number {
  if (failures === 0) return MISSED_AGAIN_MS;
  return Math.min(FAILED_AGAIN_MS.most, FAILED_AGAIN_MS.first * 2 ** (failures - 1));
}
