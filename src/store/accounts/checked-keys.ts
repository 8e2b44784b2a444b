// Cache of valid API keys, so that the key of a client with many requests per second is read once a second. A change by
// this process clears it.

import type { Clock } from '../../std/clock.ts';

/** Milliseconds for which a key stays cached, during which an archival by another process has no effect here. */
const KNOWN_MS = 1_000;
/** Cached keys, those of one second's clients. Beyond, the one that was read first is removed. */
const KEYS_MAX = 10_000;

export class CheckedKeys<Row> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** Rows by hash, in the order in which they were read. */
  readonly #rows = new Map<string, { row: Row; untilMs: number }>();
  #changes = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  get(hash: string): Row | undefined {
    const known = this.#rows.get(hash);
    return known !== undefined && this.#clock.monotonicMs() < known.untilMs ? known.row : undefined;
  }

  /** Reads the row and caches it, unless keys change meanwhile. */
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

  /** Clears the cache after a change is stored. */
  forget(): void {
    this.#changes += 1;
    this.#rows.clear();
  }
}
