// The pace of campaigns' dials in the process from which the requests leave. The dispatcher spaces its claims in another
// process (contract §9.8); a busy inter-process channel or worker bunches them, and the provider counts what arrives. A
// campaign's own rate is kept on average: dials that a stall held up follow at twice the pace until the campaign is in its
// time again. Otherwise each stall would delay all that comes after it. A limit of the account is kept between any two.

import type { Clock } from '../../std/clock.ts';

/** How long before its turn a dial may be announced. */
export const LEAD_MS_MAX = 500;
/** A dial that would wait longer is put off. */
const WAIT_MS_MAX = 2_000;
/** What a campaign may make up for: a longer stall costs it turns. So no second has more than twice its rate. */
const BEHIND_MS_MAX = 1_000;
/** How much faster than their pace late dials follow each other. */
const CATCH_UP = 2;
/** Campaigns and accounts in memory; those that have not dialled for a while go first. */
const PACES_MAX = 10_000;

export interface Paced {
  campaignId: string;
  ratePerSecond: number;
  /** Of the configuration; `callsPerSecond` null: any number. */
  account: { id: string; callsPerSecond: number | null };
  /** 0 to 500; before it is over, the dial has no turn. Default: 0. */
  waitMs?: number;
}

interface Pace {
  /** The earliest next turn, in monotonic ms. */
  nextMs: number;
  /** When the next turn is in its time. */
  dueMs: number;
}

export class DialPace {
  readonly #clock: Clock;
  /** The longest idle first. */
  readonly #paces = new Map<string, Pace>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the turn of the dial. False, at once, if that is more than 2 s after `waitMs`. */
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
