// Priority queue of connections that wait for the embedded engine, which serves one at a time: calls before the API,
// the API before maintenance. Ageing keeps it fair: after a long wait, a connection is served in the order of arrival
// with those of calls.

/** Purpose of a connection, the highest priority first. */
export type Traffic = 'calls' | 'api' | 'maintenance';

/** Wait in milliseconds after which a turn is as urgent as one of calls. For the API: longer than its statements take,
 *  and shorter than a client notices. Maintenance has a minute until its next step. */
const AGED_AFTER_MS: Record<Traffic, number> = { calls: 0, api: 250, maintenance: 2_000 };
const RANKS: Record<Traffic, number> = { calls: 0, api: 1, maintenance: 2 };

interface Waiting<T> {
  item: T;
  traffic: Traffic;
  sinceMs: number;
}

/** Queue whose length the server limits by its connections. */
export class TurnQueue<T> {
  readonly #waiting: Waiting<T>[] = [];

  get length(): number {
    return this.#waiting.length;
  }

  push(item: T, traffic: Traffic, nowMs: number): void {
    this.#waiting.push({ item, traffic, sinceMs: nowMs });
  }

  /** The next turn; undefined if none waits. */
  take(nowMs: number): T | undefined {
    // In the order of arrival: of equal rank the first one found waits longest.
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
