// Cached rows of an organization's clips. Calls that need the same clips at the same time share one query, and rows
// that an earlier call read are used when the database is late: many new calls neither repeat the query nor lose the
// clips.

import type { Log } from '../../../log.ts';
import type { Clip, ClipRef } from '../../../model/clip.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import { SharedWork } from '../../../std/shared-work.ts';
import type { ClipStore } from '../../../store/library/clips.ts';

/** Deadline of a query: the phone rings meanwhile. */
const QUERY_MS_MAX = 3_000;
/** Sets of rows that are cached, usually one for each agent; each has at most as many rows as a call may reference. */
const KNOWN_MAX = 500;

export class ClipLookup {
  readonly #clips: Pick<ClipStore, 'find'>;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Cached rows, least recently used first. */
  readonly #known = new Map<string, readonly Clip[]>();
  /** Queries in progress, at most one for each call that is being planned. */
  readonly #running = new SharedWork<readonly Clip[]>();

  constructor(deps: { clips: Pick<ClipStore, 'find'>; clock: Clock; log: Log }) {
    this.#clips = deps.clips;
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** The rows that exist, in no order. After 3 s, or if the query fails, returns the rows of the last answer to the
   *  same query. Without such rows it settles as the query does: clips are as much part of an agent as its nodes. */
  async find(organizationId: string, refs: readonly ClipRef[]): Promise<readonly Clip[]> {
    const key = JSON.stringify([organizationId, refs.map(({ by, value }) => [by, value])]);
    const running = this.#running.run(key, () => this.#query(key, organizationId, refs));
    const known = this.#known.get(key);
    if (known === undefined) return running;
    try {
      return await withDeadline(this.#clock, QUERY_MS_MAX, 'the clips of a call', running);
    } catch (error) {
      this.#log.warn({ err: error }, 'clips of an earlier call used');
      return known;
    }
  }

  async #query(
    key: string,
    organizationId: string,
    refs: readonly ClipRef[],
  ): Promise<readonly Clip[]> {
    const rows = await this.#clips.find(organizationId, refs);
    this.#keep(key, rows);
    return rows;
  }

  #keep(key: string, rows: readonly Clip[]): void {
    this.#known.delete(key);
    this.#known.set(key, rows);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= KNOWN_MAX) break;
      this.#known.delete(oldest);
    }
  }
}
