// API keys that the database knew a moment ago, so that a client with many requests a second has its key read once a
// second. Only keys that were valid; what this process changes is forgotten at once.

import type { Clock } from '../../std/clock.ts';

/** How long another process, which archives a key, is not noticed here. */
const KNOWN_MS = 1_000;
/** Clients of one second; beyond it the one that was read first is forgotten. */
const KEYS_MAX = 10_000;

export class CheckedKeys<Row> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** By hash; what was read first is first. */
  readonly #rows = new Map<string, { row: Row; untilMs: number }>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get(hash: string): Row | undefined {
    const known = this.#rows.get(hash);
    return known !== undefined && this.#clock.monotonicMs() < known.untilMs ? known.row : undefined;
  }

  /** Reads and keeps it, unless keys change meanwhile. */
  async read(hash: string, read: () => Promise<Row | undefined>): Promise<Row | undefined> {
    const changes = this.#changes;
    const untilMs = this.#clock.monotonicMs() + KNOWN_MS;
    const row = await read();
    this.#rows.delete(hash);
    if (row === undefined || changes !== this.#changes) return row;
    this.#rows.set(hash, { row, untilMs });
    const [oldest] = this.#rows.keys();
    if (this.#rows.size > KEYS_MAX && oldest !== undefined) this.#rows.delete(oldest);
    return row;
  }

  /** After a change is stored. */
  forget(): void {
    this.#changes += 1;
    this.#rows.clear();
  }
}
