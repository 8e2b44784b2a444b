// The live board of one organization, shared by its sockets: reads the active calls once a second and their logs as they
// grow, and passes on what changed, at most four times a second. It reads only while it has viewers.

import type { LiveWatchers } from '../../call/events/live-watchers.ts';
import type { Log } from '../../log.ts';
import type { BoardCall, BoardChanges } from '../../model/board-call.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import { BoardCalls } from './board-calls.ts';

/** Calls on a board, the newest; the others are counted. */
const CALLS_MAX = 2_000;
/** Calls whose changes are reported as they happen: reports cost the call workers. The others are read at each poll. */
const WATCHED_MAX = 200;
/** Interval of polls for calls that begin, and for events of calls that are not watched. */
const POLL_MS = 1_000;
/** The next poll waits this many times what the last one took: 10 % of the process at most. */
const POLL_WAIT_FACTOR = 9;
/** Interval of messages. */
const FLUSH_MS = 250;
/** Events of one call in one read, and reads in one poll; the rest comes with the next poll. */
const EVENTS_MAX = 50;
const READS_MAX = 40;
/** Calls in one read. */
const RUNS_MAX = 200;

const NO_CHANGES: BoardChanges = { calls: [], ended: [] };

export interface BoardDeps {
  store: Pick<Store, 'runs'>;
  live: LiveWatchers;
  clock: Clock;
  log: Log;
}

export interface BoardViewer {
  /** A message is due: the changes since the last one, or that the calls cannot be read. */
  onChanges(changes: BoardChanges & { total: number }): void;
  onUnavailable(): void;
}

export class LiveBoard {
  readonly #deps: BoardDeps;
  readonly #organizationId: string;
  readonly #viewers = new Set<BoardViewer>();
  readonly #calls = new BoardCalls();
  readonly #watches = new Map<string, () => void>();
  /** Watched runs with new events. */
  #stored = new Set<string>();
  #total = 0;
  #isRead = false;
  /** Whether a message is due although no call changed: after the first read, after a fault, with another total. */
  #isDue = true;
  #isReading = false;
  #pollAtMs = 0;
  #timer: Timer | undefined;

  constructor(deps: BoardDeps, organizationId: string) {
    this.#deps = deps;
    this.#organizationId = organizationId;
  }

  get isWatched(): boolean {
    return this.#viewers.size > 0;
  }

  /** The calls at this moment; undefined until they were read once: then the first changes have all of them. */
  get snapshot(): { calls: BoardCall[]; total: number } | undefined {
    return this.#isRead ? { calls: this.#calls.all, total: this.#total } : undefined;
  }

  add(viewer: BoardViewer): void {
    this.#viewers.add(viewer);
    if (this.#viewers.size === 1) this.#timer = this.#deps.clock.after(0, () => void this.#tick());
  }

  remove(viewer: BoardViewer): void {
    this.#viewers.delete(viewer);
    if (this.isWatched) return;
    this.#timer?.cancel();
    for (const unwatch of this.#watches.values()) unwatch();
    this.#watches.clear();
  }

  async #tick(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      await this.#read();
      this.#flush();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'the board of calls cannot be read');
      this.#pollAtMs = this.#deps.clock.monotonicMs() + POLL_MS;
      this.#isDue = true;
      for (const viewer of this.#viewers) viewer.onUnavailable();
    } finally {
      this.#isReading = false;
      if (this.isWatched) this.#timer = this.#deps.clock.after(FLUSH_MS, () => void this.#tick());
    }
  }

  async #read(): Promise<void> {
    const { clock } = this.#deps;
    const sinceMs = clock.monotonicMs();
    const stored = this.#stored;
    this.#stored = new Set();
    if (sinceMs < this.#pollAtMs) {
      await this.#readLogs(stored);
      return;
    }
    const { calls, total } = await this.#deps.store.runs.activeCalls(this.#organizationId, {
      limit: CALLS_MAX,
      offset: 0,
    });
    this.#calls.list(calls);
    this.#isDue ||= total !== this.#total;
    this.#total = total;
    this.#isRead = true;
    if (this.isWatched) this.#watch();
    await this.#readLogs(this.#calls.runIds);
    const tookMs = clock.monotonicMs() - sinceMs;
    this.#pollAtMs = clock.monotonicMs() + Math.max(POLL_MS, tookMs * POLL_WAIT_FACTOR);
  }

  /** Reads the new events of these runs; those with more than a read holds are read again. */
  async #readLogs(runIds: Iterable<string>): Promise<void> {
    let wanted = [...runIds];
    for (let reads = 0; wanted.length > 0 && reads < READS_MAX; reads += 1) {
      const counts = new Map<string, number>();
      const cursors = this.#calls.cursors(wanted.splice(0, RUNS_MAX));
      if (cursors.length === 0) continue;
      for (const event of await this.#deps.store.runs.eventsAfter(cursors, EVENTS_MAX)) {
        counts.set(event.runId, (counts.get(event.runId) ?? 0) + 1);
        this.#calls.takeEvent(event);
      }
      const full = [...counts].flatMap(([runId, count]) => (count < EVENTS_MAX ? [] : [runId]));
      wanted = [...wanted, ...full];
    }
    for (const runId of wanted) this.#stored.add(runId);
  }

  /** Watches as many calls as may be watched. */
  #watch(): void {
    for (const [runId, unwatch] of this.#watches) {
      if (this.#calls.has(runId)) continue;
      unwatch();
      this.#watches.delete(runId);
    }
    for (const runId of this.#calls.runIds) {
      if (this.#watches.size >= WATCHED_MAX) return;
      if (this.#watches.has(runId)) continue;
      const unwatch = this.#deps.live.watch(runId, {
        onStored: () => this.#stored.add(runId),
        onLive: (id, item) => this.#calls.takeLive(id, item),
      });
      this.#watches.set(runId, unwatch);
    }
  }

  #flush(): void {
    if (!this.#isRead) return;
    const changes = this.#calls.takeChanges() ?? (this.#isDue ? NO_CHANGES : undefined);
    if (changes === undefined) return;
    this.#isDue = false;
    for (const viewer of this.#viewers) viewer.onChanges({ ...changes, total: this.#total });
  }
}
