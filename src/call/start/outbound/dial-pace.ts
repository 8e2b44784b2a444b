// Pace of dials. Campaigns: the dispatcher spaces its claims in another process (contract §9.8), but a busy inter-process
// channel or worker bunches them, so the process that sends the requests spaces them again. A campaign keeps its rate on
// average: dials that a stall delayed follow at twice the pace until it has caught up. An account's limit (that of its
// configuration, else the one that its provider enforces) is kept between any two dials; calls that clients start wait
// for their turn.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Store } from '../../../store/store.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';

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
/** Longest wait for a turn. A client waits for the answer to its start, which includes the provider's answer to the
 *  dial. */
const START_WAIT_MS_MAX = 5_000;

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

/** Pace of campaigns' dials, in the process that sends the requests. */
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

interface PacedRoute {
  configuration: Pick<TelephonyConfiguration, 'id' | 'callsPerSecond'>;
  provider: TelephonyProvider;
}

/** Calls per second of the account; null: any number. */
export function callsPerSecondOf({ configuration, provider }: PacedRoute): number | null {
  return configuration.callsPerSecond ?? provider.capabilities.callsPerSecond ?? null;
}

/** Rate limit of an account's dials that clients start. Campaigns claim calls at the same rate
 *  (campaign/dispatcher.ts). */
export class AccountPace {
  readonly #store: Pick<Store, 'telephony'>;
  readonly #clock: Clock;

  constructor({ store, clock }: { store: Pick<Store, 'telephony'>; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Waits until the account may dial; resolves with true if the dial had to wait. Throws PROVIDER_CAPACITY at once
   *  if the next turn is more than 5 s ahead, and STORE_UNAVAILABLE. */
  async turn(route: PacedRoute): Promise<boolean> {
    const callsPerSecond = callsPerSecondOf(route);
    if (callsPerSecond === null) return false;
    const wanted = { callsPerSecond, waitMsMax: START_WAIT_MS_MAX };
    const waitMs = await this.#store.telephony.takeDialTurn(route.configuration.id, wanted);
    if (waitMs === undefined) {
      const reason = `the account's ${callsPerSecond} calls a second are used up for the next ${START_WAIT_MS_MAX / 1_000} s`;
      throw new GatewayError('PROVIDER_CAPACITY', { provider: route.provider.name, reason });
    }
    if (waitMs === 0) return false;
    await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
    return true;
  }
}
