// Inbound calls that wait for a place, in the order in which they came (migrations/038). A waiting call has a run, which
// takes no place until the call is admitted. A caller who is not seen any more does not delay those behind.

import { type Selectable, sql } from 'kysely';
import type { OverflowPolicy } from '../../model/overflow.ts';
import type { Run } from '../../model/run.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { columnsOf, type NewRun, rowOf, runsOfIds, type StartedRun } from './run-insertion.ts';
import { toRun } from './runs.ts';

/** Calls of one claim, and of one look for callers who have left. */
const CLAIMED_MAX = 50;

export interface WaitingCall {
  runId: string;
  policy: OverflowPolicy;
  waitedMs: number;
  /** Whether the call is answered for the wait. */
  isAnswered: boolean;
  /** Milliseconds since the last announcement; null before the first one. */
  announcedMs: number | null;
}

export interface Joining {
  policy: OverflowPolicy;
  /** Callers who may wait; null: any number, as for a call that goes to another number at once. */
  callersMax: number | null;
  /** Time in which the call is looked after again, or counts as gone. */
  seenMs: number;
  /** Time until a gateway looks after the call (`claimDue`); null: its provider asks, or its process looks after it. */
  dueMs: number | null;
}

/** What a caller's look for a place found. `gone`: the call does not wait any more. */
export type Admission = { verdict: 'admitted' | 'waiting' | 'gone'; ahead: number };

export type WaitingCallStore = Pick<WaitingCallRepository, keyof WaitingCallRepository>;

export class WaitingCallRepository {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Puts a call at the end of the line. Undefined if the line is full; a call that has a run gets that run, as from
   *  `runs.create`. */
  async join(input: NewRun, joining: Joining): Promise<StartedRun | undefined> {
    const context = this.#context;
    const { organizationId, configurationId, providerCallId, follows = null } = input;
    const { policy, callersMax, seenMs, dueMs } = joining;
    const row = rowOf(context, input, { isIdle: true });
    const columns = columnsOf(row);
    const now = context.time();
    const { rows } = await sql<Selectable<RunTable> & { known_run: string | null }>`
      with line as materialized (
        select * from lock_line(
          ${organizationId}::bigint, ${context.callLimit}::integer,
          ${configurationId}::bigint, ${providerCallId}::text
        )
      ), made as (
        insert into runs (${columns})
        select ${columns} from line, json_populate_record(null::runs, ${jsonText(row)}::json)
        where (known_run is null or known_run = ${follows}::bigint)
          and waiting < coalesce(${callersMax}::integer, waiting + 1)
        returning *
      ), joined as (
        insert into waiting_calls (run_id, organization_id, policy, since, seen_until, due_at)
        select id, organization_id, ${jsonText(policy)}::jsonb, ${now},
          clock_timestamp() + ${seenMs}::integer * interval '1 millisecond',
          ${dueMs === null ? sql`null` : shifted(now, dueMs)}
        from made
      )
      select known_run, made.* from line left join made on true`.execute(context.db);
    const [row0] = rows;
    if (row0 !== undefined && row0.id !== null) return { run: toRun(row0), isNew: true };
    const known = row0?.known_run ?? null;
    if (known === null || known === follows) return undefined;
    const run = (await runsOfIds(context, [known])).get(known);
    return run && { run, isNew: false };
  }

  /** Gives the call a place if one is free behind those who wait longer: this process has it then. */
  async admit(runId: string, seenMs: number): Promise<Admission> {
    if (!isRowId(runId)) return { verdict: 'gone', ahead: 0 };
    const { db, callLimit, node, epoch } = this.#context;
    const { rows } = await sql<{ verdict: Admission['verdict']; ahead: string }>`
      select * from admit_waiting_call(
        ${runId}::bigint, ${callLimit}::integer, ${node}::text, ${epoch}::bigint, ${seenMs}::integer
      )`.execute(db);
    const [row] = rows;
    return { verdict: row?.verdict ?? 'gone', ahead: Number(row?.ahead ?? 0) };
  }

  /** The call's wait; undefined if it does not wait. */
  async find(runId: string): Promise<WaitingCall | undefined> {
    if (!isRowId(runId)) return undefined;
    const { db, time } = this.#context;
    const { rows } = await sql<WaitingRow>`
      select run_id, policy, is_answered, ${elapsed(time(), 'since')} as waited_ms,
        ${elapsed(time(), 'announced_at')} as announced_ms
      from waiting_calls where run_id = ${runId}`.execute(db);
    return rows[0] && toWaiting(rows[0]);
  }

  /** The caller counts as present for `seenMs`, and gets no place now. */
  async keep(runId: string, seenMs: number): Promise<Admission> {
    if (!isRowId(runId)) return { verdict: 'gone', ahead: 0 };
    const { rows } = await sql`
      update waiting_calls
      set seen_until = greatest(
        seen_until, clock_timestamp() + ${seenMs}::integer * interval '1 millisecond'
      )
      where run_id = ${runId} returning run_id`.execute(this.#context.db);
    return { verdict: rows.length > 0 ? 'waiting' : 'gone', ahead: 0 };
  }

  /** The call is answered; with `isAnnounced` the announcement is being played. */
  async noteAnswered(runId: string, { isAnnounced }: { isAnnounced: boolean }): Promise<void> {
    if (!isRowId(runId)) return;
    const { db, time } = this.#context;
    await sql`
      update waiting_calls set is_answered = true,
        announced_at = ${isAnnounced ? time() : sql`announced_at`}
      where run_id = ${runId}`.execute(db);
  }

  /** No gateway looks after the call for `ms`. */
  async defer(runId: string, ms: number): Promise<void> {
    if (!isRowId(runId)) return;
    const { db, time } = this.#context;
    await sql`
      update waiting_calls set due_at = ${shifted(time(), ms)}
      where run_id = ${runId} and due_at is not null`.execute(db);
  }

  /** Claims calls that are due, for `leaseMs`: this process looks after them next. The longest waiting first. */
  async claimDue(leaseMs: number): Promise<string[]> {
    const { db, time } = this.#context;
    const { rows } = await sql<{ run_id: string }>`
      update waiting_calls set due_at = ${shifted(time(), leaseMs)}
      where run_id in (
        select run_id from waiting_calls where due_at <= ${time()}
        order by run_id limit ${CLAIMED_MAX} for update skip locked
      )
      returning run_id`.execute(db);
    return rows.map(({ run_id: id }) => id).sort((one, other) => Number(one) - Number(other));
  }

  /** Calls that nobody has looked after for longer than `ms` beyond their time: their callers have left. The rows stay,
   *  and are returned again after `ms`. */
  async claimUnseen(ms: number): Promise<Run[]> {
    const { rows } = await sql<Selectable<RunTable>>`
      with left_ones as (
        update waiting_calls set seen_until = clock_timestamp()
        where run_id in (
          select run_id from waiting_calls
          where seen_until < clock_timestamp() - ${ms}::integer * interval '1 millisecond'
          order by run_id limit ${CLAIMED_MAX} for update skip locked
        )
        returning run_id
      )
      select runs.* from runs join left_ones on run_id = id order by id`.execute(this.#context.db);
    return rows.map(toRun);
  }

  /** Callers of all organizations who wait now. */
  async count(): Promise<number> {
    const { rows } = await sql<{ count: string }>`
      select count(*) as count from waiting_calls where seen_until > clock_timestamp()`.execute(
      this.#context.db,
    );
    return Number(rows[0]?.count ?? 0);
  }
}

interface WaitingRow {
  run_id: string;
  policy: OverflowPolicy;
  is_answered: boolean;
  waited_ms: number;
  announced_ms: number | null;
}

function elapsed(now: ReturnType<StoreContext['time']>, column: string) {
  return sql`extract(epoch from ${now} - ${sql.ref(column)})::float8 * 1000`;
}

function toWaiting(row: WaitingRow): WaitingCall {
  const { run_id: runId, policy, is_answered: isAnswered, waited_ms, announced_ms } = row;
  return {
    runId,
    policy,
    isAnswered,
    waitedMs: Math.max(0, waited_ms),
    announcedMs: announced_ms === null ? null : Math.max(0, announced_ms),
  };
}
