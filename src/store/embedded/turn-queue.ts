// The priority queue of connections that wait for the embedded engine, which serves one at a time: those of calls go
// before those of the API, these before maintenance. Ageing keeps it fair: who has waited for long goes in the order
// of arrival with those of calls, so that nothing starves.

/** What a connection is for, the first to be served first. */
export type Traffic = 'calls' | 'api' | 'maintenance';

/** After this wait a turn is as urgent as one of calls. Of the API: longer than its statements take, and no wait that
 *  a client notices. Maintenance has a minute until the next time. */
const AGED_AFTER_MS: Record<Traffic, number> = { calls: 0, api: 250, maintenance: 2_000 };
const RANKS: Record<Traffic, number> = { calls: 0, api: 1, maintenance: 2 };

interface Waiting<T> {
  item: T;
  traffic: Traffic;
  sinceMs: number;
}

/** As long as there are connections; the server limits these. */
export class TurnQueue<T> {
  readonly #waiting: Waiting<T>[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  push(item: T, traffic: Traffic, nowMs: number): void {
    this.#waiting.push({ item, traffic, sinceMs: nowMs });
  }

  /** Whose turn it is. */
  take(nowMs: number): T | undefined {
    // In the order of arrival: of equal rank the first one found is the one that waits longest.
    let next = -1;
    let best = Number.POSITIVE_INFINITY;
    for (const [at, { traffic, sinceMs }] of this.#waiting.entries()) {
      const rank = nowMs - sinceMs >= AGED_AFTER_MS[traffic] ? 0 : RANKS[traffic];
      if (rank >= best) continue;
      next = at;
      best = rank;
      if (rank === 0) break;
    }
    return next === -1 ? undefined : this.#waiting.splice(next, 1)[0]?.item;
  }
}
