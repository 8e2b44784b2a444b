// Pace of campaigns' dials in the process that sends the requests. The dispatcher spaces its claims in another process
// (contract §9.8), but a busy inter-process channel or worker bunches them, and the provider counts what arrives. A
// campaign keeps its rate on average: dials that a stall delayed follow at twice the pace until the campaign has caught
// up. An account's limit is kept between any two dials.

import type { Clock } from '../../../std/clock.ts';

/** Longest time before its turn at which a dial may be announced. */
export const LEAD_MS_MAX = 500;
/** Longest wait for a turn; a dial that would wait longer is put off. */
const WAIT_MS_MAX = 2_000;
/** Delay that a campaign may make up for: a longer stall costs it turns. No second has more than twice its rate. */
const BEHIND_MS_MAX = 1_000;
/** Factor by which delayed dials follow each other faster than at their pace. */
const CATCH_UP = 2;
/** Campaigns and accounts in memory; the one that has been idle for longest is removed first. */
const PACES_MAX = 10_000;

export interface Paced {
  campaignId: string;
  ratePerSecond: number;
  /** Account of the configuration; `callsPerSecond` null: any number. */
  account: { id: string; callsPerSecond: number | null };
  /** Milliseconds before which the dial has no turn, 0 to 500. Default: 0. */
  waitMs?: number;
}

interface Pace {
  /** Earliest next turn, monotonic milliseconds. */
  nextMs: number;
  /** Next turn at the regular pace, monotonic milliseconds. */
  dueMs: number;
}

export class DialPace {
  readonly #clock: Clock;
  /** Paces by campaign and account, the longest idle first. */
  readonly #paces = new Map<string, Pace>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the dial's turn. Returns false at once if the turn is more than 2 s after `waitMs`. */
  async turn({ campaignId, ratePerSecond, account, waitMs = 0 }: Paced): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    const earliestMs = nowMs + waitMs;
    const ofCampaign = `campaign ${campaignId}`;
    const ofAccount = `account ${account.id}`;
    const pace = this.#paces.get(ofCampaign) ?? { nextMs: earliestMs, dueMs: earliestMs };
    const dueMs = Math.max(pace.dueMs, earliestMs - BEHIND_MS_MAX);
    const freeMs = this.#paces.get(ofAccount)?.nextMs ?? earliestMs;
    const turnMs = Math.max(earliestMs, dueMs, pace.nextMs, freeMs);
    if (turnMs - earliestMs > WAIT_MS_MAX) return false;
    const gapMs = 1_000 / ratePerSecond;
    this.#keep(ofCampaign, { nextMs: turnMs + gapMs / CATCH_UP, dueMs: dueMs + gapMs });
    if (account.callsPerSecond !== null) {
      const afterMs = turnMs + 1_000 / account.callsPerSecond;
      this.#keep(ofAccount, { nextMs: afterMs, dueMs: afterMs });
    }
    if (turnMs > nowMs) {
      await new Promise<void>((resolve) => this.#clock.after(turnMs - nowMs, resolve));
    }
    return true;
  }

  #keep(name: string, pace: Pace): void {
    this.#paces.delete(name);
    this.#paces.set(name, pace);
    for (const [longestIdle] of this.#paces) {
      if (this.#paces.size <= PACES_MAX) break;
      this.#paces.delete(longestIdle);
    }
  }
}
