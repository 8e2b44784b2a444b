// A run's append-only log of events. Writing a batch again changes nothing, so a writer without an answer repeats it.
// Events of a removed run (of a returned dial) or of a run that was taken from this process (`isTaken`) are
// dropped, and do not prevent storing those of other calls.

import { type Selectable, sql } from 'kysely';
import type { CallEvent } from '../../model/call-event.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunEventTable } from '../db/tables.ts';
import type { EventCursor } from './run-filters.ts';
import { isTaken } from './runs.ts';

/** Rows of one statement: some hundred kilobytes. */
const ROWS_MAX = 1_000;
/** Events of one run that are read. Twenty minutes of a call with much speech have a few thousand, and no call lasts
 *  longer than a day. */
const EVENTS_READ_MAX = 300_000;

/** Stores events. Returns the runs that were taken from this process, whose events are not stored. Throws
 *  STORE_UNAVAILABLE, STORE_FULL; what was not written may be sent again. */
export async function appendEvents(
  context: StoreContext,
  events: readonly CallEvent[],
): Promise<readonly string[]> {
  const taken = new Set<string>();
  for (let from = 0; from < events.length; from += ROWS_MAX) {
    const batch = events.slice(from, from + ROWS_MAX);
    // The lock, which the foreign key takes anyway, makes the check exact: a run that is taken meanwhile is either read
    // as taken, or left to the taker's next look.
    const { rows } = await sql<{ id: string }>`
      with fresh as materialized (
        select * from json_to_recordset(${jsonText(batch.map(toRow))}::json)
          as fresh (run_id bigint, seq integer, at bigint, media_ms double precision, body json)
      ), known as materialized (
        select id, ${isTaken(context)} as is_taken from runs
        where id in (select run_id from fresh)
        order by id for key share
      ), stored as (
        insert into run_events (run_id, seq, at, media_ms, body)
        select fresh.* from fresh join known on known.id = fresh.run_id and not is_taken
        on conflict (run_id, seq) do nothing
      )
      select id from known where is_taken`.execute(context.db);
    for (const { id } of rows) taken.add(id);
  }
  return [...taken];
}

function toRow({ runId, seq, at, mediaMs, body }: CallEvent): object {
  return { run_id: runId, seq, at: Math.floor(at), media_ms: mediaMs, body };
}

/** The run's events in order. */
export async function readEvents({ db }: StoreContext, runId: string): Promise<CallEvent[]> {
  if (!isRowId(runId)) return [];
  const rows = await db
    .selectFrom('run_events')
    .selectAll()
    .where('run_id', '=', runId)
    .orderBy('seq')
    .limit(EVENTS_READ_MAX)
    .execute();
  return rows.map(toEvent);
}

/** At most the first `first` and the last `last` events of the run, in order, and how many there are in all. */
export async function readEventEnds(
  { db }: StoreContext,
  runId: string,
  { first, last }: { first: number; last: number },
): Promise<{ events: CallEvent[]; total: number }> {
  if (!isRowId(runId)) return { events: [], total: 0 };
  // The log has no gaps: the last number is the count.
  const { rows } = await sql<Selectable<RunEventTable>>`
    with newest as (
      select * from run_events where run_id = ${runId} order by seq desc limit ${last}
    ), oldest as (
      select * from run_events where run_id = ${runId} order by seq limit ${first}
    )
    select * from newest
    union all
    select * from oldest where seq < (select min(seq) from newest)
    order by seq`.execute(db);
  return { events: rows.map(toEvent), total: rows.at(-1)?.seq ?? 0 };
}

/** The events after each cursor, by run and in order; at most `limit` events of each run. */
export async function readEventsAfter(
  { db }: StoreContext,
  cursors: readonly EventCursor[],
  limit: number,
): Promise<CallEvent[]> {
  const known = cursors.filter(({ runId }) => isRowId(runId));
  if (known.length === 0) return [];
  const { rows } = await sql<Selectable<RunEventTable>>`
    select behind.* from unnest(
      ${known.map(({ runId }) => runId)}::bigint[],
      ${known.map(({ seq }) => seq)}::integer[]
    ) as cursors (run_id, seq)
    cross join lateral (
      select * from run_events
      where run_events.run_id = cursors.run_id and run_events.seq > cursors.seq
      order by run_events.seq limit ${limit}
    ) as behind
    order by behind.run_id, behind.seq`.execute(db);
  return rows.map(toEvent);
}

function toEvent(row: Selectable<RunEventTable>): CallEvent {
  return {
    runId: row.run_id,
    seq: row.seq,
    at: Number(row.at),
    mediaMs: row.media_ms,
    body: row.body,
  };
}
