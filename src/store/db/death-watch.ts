// Detects dead processes by the rows of `nodes`, and declares them dead: their rows are deleted, and what they held is
// free. Nobody is declared dead while the database itself does not answer, nor soon after that: the living could not
// write their heartbeats either.

import { sql } from 'kysely';
import { nodesDeclaredDead } from '../../metrics/metrics.ts';
import { shifted } from './database-time.ts';
import { expireClaims } from './dead-claims.ts';
import type { PresencePace } from './presence-pace.ts';
import type { StoreContext, TransactionContext } from './store-context.ts';

/** Time without a heartbeat after which a process of the version without epochs is dead: its heartbeats are 15 s apart. */
const FORMER_DEAD_MS = 60_000;
/** Time for which the database must have answered before anybody is declared dead: a process whose statement was lost
 *  with the database repeats it after three seconds, and a request of an older version after ten. */
const CALM_MS = 15_000;
/** Random part of the interval of checks, so that gateways do not check at the same moment. */
const JITTER_MS = 200;
/** Dead processes of one check: all of several gateways. */
const DEAD_MAX = 500;
/** Rows of one check, more than gateways and their dead have. */
const ROWS_MAX = 5_000;

/** One row that has been without a heartbeat for longer than the interval. */
export interface SilentProcess {
  name: string;
  epoch: string | null;
  /** Time of the last heartbeat, to the microsecond. */
  seenAt: string;
  /** Its age by the database's clock. Negative: that clock was set back. */
  ageMs: number;
}

/** The processes without a heartbeat, as this process has observed them over several checks. Both clocks count: a jump
 *  of the database's makes everybody look dead until the next heartbeat, and this process may have been suspended. */
export class Observations {
  readonly #pace: PresencePace;
  readonly #since = new Map<string, { seenAt: string; atMs: number }>();

  constructor(pace: PresencePace) {
    this.#pace = pace;
  }

  forget(): void {
    this.#since.clear();
  }

  /** Drops processes whose rows are gone. */
  drop(gone: readonly SilentProcess[]): void {
    for (const each of gone) this.#since.delete(keyOf(each));
  }

  /** The dead among them at `nowMs` (monotonic), and when the first of the others may be dead; Infinity for none.
   *  `hasVanished`: one that was silent for long has a heartbeat again, or another process has declared it dead. */
  note(
    silent: readonly SilentProcess[],
    nowMs: number,
  ): { dead: SilentProcess[]; hasVanished: boolean; firstInMs: number } {
    const keys = new Set(silent.map(keyOf));
    let hasVanished = false;
    for (const [key, { atMs }] of this.#since) {
      if (keys.has(key)) continue;
      this.#since.delete(key);
      hasVanished ||= nowMs - atMs >= this.#pace.deadMs / 2;
    }
    const dead: SilentProcess[] = [];
    let firstInMs = Number.POSITIVE_INFINITY;
    for (const each of silent) {
      const leftMs = this.#leftMs(each, nowMs);
      if (leftMs <= 0) dead.push(each);
      else firstInMs = Math.min(firstInMs, leftMs);
    }
    return { dead: dead.slice(0, DEAD_MAX), hasVanished, firstInMs };
  }

  #leftMs(each: SilentProcess, nowMs: number): number {
    const { deadMs } = this.#pace;
    const key = keyOf(each);
    const known = this.#since.get(key);
    const since = known?.seenAt === each.seenAt ? known : { seenAt: each.seenAt, atMs: nowMs };
    this.#since.set(key, since);
    const observedMs = nowMs - since.atMs;
    const isFormer = each.epoch === null;
    const limitMs = isFormer ? Math.max(deadMs, FORMER_DEAD_MS) : deadMs;
    // Its age counts too, so that the time to notice it does not depend on when the first check was.
    const byBothMs = Math.max(limitMs - each.ageMs, limitMs / 2 - observedMs);
    return each.ageMs < 0 ? limitMs - observedMs : byBothMs;
  }
}

function keyOf({ name, epoch }: SilentProcess): string {
  return `${epoch} ${name}`;
}

export interface Look {
  /** Whether a process was declared dead, by this one or by another at the same moment. */
  hasDied: boolean;
  /** Whether the database has answered for long enough: processes whose rows are gone have entered again. */
  isCalm: boolean;
  /** Milliseconds to the next check. */
  nextMs: number;
}

export type DeathWatchContext = Pick<
  StoreContext,
  'db' | 'presence' | 'pace' | 'clock' | 'time' | 'random' | 'node' | 'epoch' | 'log'
>;

export class DeathWatch {
  readonly #context: DeathWatchContext;
  readonly #observations: Observations;
  /** When the database last answered, and since when it has, monotonic milliseconds. */
  #answeredMs = Number.NEGATIVE_INFINITY;
  #answersSinceMs = Number.NEGATIVE_INFINITY;
  #diallers: readonly string[] = [];

  constructor(context: DeathWatchContext) {
    this.#context = context;
    this.#observations = new Observations(context.pace);
  }

  /** The living processes that dial campaigns, as of the last check. */
  get diallers(): readonly string[] {
    return this.#diallers;
  }

  /** Checks once, and declares dead who is. Throws STORE_UNAVAILABLE. */
  async look(): Promise<Look> {
    const { clock, pace, random } = this.#context;
    let rows: readonly NodeState[];
    try {
      rows = await this.#read();
    } catch (error) {
      this.#answeredMs = Number.NEGATIVE_INFINITY;
      throw error;
    }
    const nowMs = clock.monotonicMs();
    this.#noteAnswer(nowMs);
    const isSilent = ({ ageMs }: NodeState): boolean => ageMs > pace.beatMs || ageMs < 0;
    this.#diallers = rows
      .filter(({ dials, ageMs }) => dials && ageMs < pace.deadMs)
      .map(({ name }) => name);
    const { dead, hasVanished, firstInMs } = this.#observations.note(rows.filter(isSilent), nowMs);
    const isCalm = nowMs - this.#answersSinceMs >= CALM_MS;
    if (isCalm && dead.length > 0) {
      await this.#declareDead(dead);
      this.#observations.drop(dead);
    }
    const lookMs = pace.lookMs - random.integer(JITTER_MS);
    return {
      hasDied: isCalm && (dead.length > 0 || hasVanished),
      isCalm,
      nextMs: isCalm ? Math.min(lookMs, firstInMs + SPREAD_MS + random.integer(SPREAD_MS)) : lookMs,
    };
  }

  /** A pause between two answers is an outage, of the database, of the network to it, or of this process. */
  #noteAnswer(nowMs: number): void {
    if (nowMs - this.#answeredMs > 2 * this.#context.pace.lookMs + SLOW_MS) {
      this.#answersSinceMs = nowMs;
      this.#observations.forget();
    }
    this.#answeredMs = nowMs;
  }

  async #read(): Promise<readonly NodeState[]> {
    const { db, presence = db, pace, time, node, epoch } = this.#context;
    const now = time();
    const { rows } = await sql<NodeState>`
      select name, epoch, seen_at::text as "seenAt", dials_campaigns as dials,
        (extract(epoch from ${now} - seen_at) * 1000)::double precision as "ageMs"
      from nodes
      where (dials_campaigns or seen_at not between ${shifted(now, -pace.beatMs)} and ${now})
        and (name, epoch) is distinct from (${node}, ${epoch}::bigint)
      limit ${ROWS_MAX}`.execute(presence);
    return rows;
  }

  /** Deletes the rows of those that have still not written a heartbeat. A row lock delays a heartbeat of this moment
   *  until its row is gone: its process then enters again, and keeps nothing that is taken here. */
  async #declareDead(dead: readonly SilentProcess[]): Promise<void> {
    const { db, log } = this.#context;
    const names = await db.transaction().execute(async (tx) => {
      const deleted = await deleteDead(tx, dead);
      await expireClaims(tx, { names: deleted, now: this.#context.time() });
      return deleted;
    });
    for (const name of names) {
      const silentMs = Math.round(dead.find((each) => each.name === name)?.ageMs ?? 0);
      log.warn({ node: name, silentMs }, 'a process without heartbeats is declared dead');
      nodesDeclaredDead.inc();
    }
  }
}

/** Longest answer that is no outage. */
const SLOW_MS = 1_000;
/** Random part of the wait for a death, in milliseconds. */
const SPREAD_MS = 100;

type NodeState = SilentProcess & { dials: boolean };

async function deleteDead(
  tx: TransactionContext,
  dead: readonly SilentProcess[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    with dead as (
      select nodes.name from nodes
      join unnest(
        ${dead.map(({ name }) => name)}::text[],
        ${dead.map(({ epoch }) => epoch)}::bigint[],
        ${dead.map(({ seenAt }) => seenAt)}::timestamptz[]
      ) as silent (name, epoch, seen_at)
        on silent.name = nodes.name and silent.epoch is not distinct from nodes.epoch
          and silent.seen_at = nodes.seen_at
      order by nodes.name for update of nodes
    )
    delete from nodes using dead where nodes.name = dead.name
    returning nodes.name`.execute(tx);
  return rows.map(({ name }) => name);
}
