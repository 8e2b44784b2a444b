// The rate limit of a campaign in the process from which its requests leave. The dispatcher spaces its claims in another
// process (contract §9.8); a busy inter-process channel or worker would bunch them, and the provider counts what
// arrives.

import type { Clock } from '../../std/clock.ts';

/** A dial that would wait longer is put off. */
const WAIT_MS_MAX = 2_000;
/** Campaigns in memory; those that have not dialled for a while go first. */
const CAMPAIGNS_MAX = 10_000;

export class DialPace {
  readonly #clock: Clock;
  /** When a campaign may dial again, in monotonic ms, the longest idle first. */
  readonly #nextMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until 1 / `ratePerSecond` has passed since the campaign's dial before. False, at once, if that takes
   *  longer than 2 s. */
  async turn(campaignId: string, ratePerSecond: number): Promise<boolean> {
    const nowMs = this.#clock.monotonicMs();
    const turnMs = Math.max(nowMs, this.#nextMs.get(campaignId) ?? nowMs);
    if (turnMs - nowMs > WAIT_MS_MAX) return false;
    this.#nextMs.delete(campaignId);
    this.#nextMs.set(campaignId, turnMs + 1_000 / ratePerSecond);
    for (const [longestIdle] of this.#nextMs) {
      if (this.#nextMs.size <= CAMPAIGNS_MAX) break;
      this.#nextMs.delete(longestIdle);
    }
    if (turnMs > nowMs) {
      await new Promise<void>((resolve) => this.#clock.after(turnMs - nowMs, resolve));
    }
    return true;
  }
}
