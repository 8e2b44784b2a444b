// New runs, inserted within the limit of an organization's open calls: its row is locked, so that each start counts the
// one before it.

import assert from 'node:assert/strict';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import {
  type Run,
  type RunFieldFacts,
  type RunFieldWith,
  runFieldNames,
  runFields,
} from '../../model/run.ts';
import { REPEATABLE } from '../db/checked-client.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { RunRow, RunTable } from '../db/tables.ts';
import { toRun } from './runs.ts';

/** The given fields of a new run. The configuration is null while the route of the call is unknown. */
export interface NewRun extends Omit<Pick<Run, RunFieldWith<{ first: 'given' }>>, 'campaignId'> {
  /** Set for a campaign's call. */
  campaignId?: string;
  /** The last run of the same call, whose next leg this is. Default: a call with a run gets no other. */
  follows?: string | undefined;
}

export interface StartedRun {
  run: Run;
  /** False if a request with the same key, or the same call, created the run before. */
  isNew: boolean;
}

/** Inserts a run. Throws CALL_LIMIT_REACHED if the organization already has `limit` runs that are not completed;
 *  default: its own limit. A provider's call that has a run gets that run, also for concurrent requests, unless
 *  `follows` names it. It is one statement and its own transaction, because dozens of calls may arrive per second while
 *  others talk. */
export async function insertNewRun(
  context: StoreContext,
  input: NewRun,
  limit?: number,
): Promise<StartedRun> {
  const { organizationId, configurationId, providerCallId, follows = null } = input;
  const row = rowOf(context, input, { isIdle: false });
  const columns = columnsOf(row);
  const { rows } = await sql<Inserted & { known_run: string | null }>`
    ${providerCallId === null ? sql`` : REPEATABLE}
    with calls as materialized (
      select * from lock_provider_call(
        ${organizationId}::bigint, ${context.callLimit}::integer,
        ${configurationId}::bigint, ${providerCallId}::text
      )
    ), made as (
      insert into runs (${columns})
      select ${columns} from calls, json_populate_record(null::runs, ${jsonText(row)}::json)
      where (known_run is null or known_run = ${follows}::bigint)
        and calls_open < coalesce(${limit ?? null}::integer, calls_max)
      returning *
    )
    select calls_max, known_run, made.* from calls left join made on true`.execute(context.db);
  const [first] = rows;
  const [run] = runsIn(rows);
  if (run !== undefined) return { run, isNew: true };
  const knownId = first?.known_run ?? null;
  const wanted = knownId === null || knownId === follows ? [] : [knownId];
  const [known] = (await runsOfIds(context, wanted)).values();
  if (known !== undefined) return { run: known, isNew: false };
  throw new GatewayError('CALL_LIMIT_REACHED', { limit: limit ?? first?.calls_max ?? 0 });
}

/** Row of a statement that inserts runs; the columns of a run are null where none was inserted. */
export type Inserted = Selectable<RunTable> & Pick<LockedCalls, 'calls_max'>;

/** The inserted runs in the order of their ids, which is that of the values. */
export function runsIn(rows: readonly Inserted[]): Run[] {
  const made = rows.filter(({ id }) => id !== null);
  return made.toSorted((one, other) => Number(one.id) - Number(other.id)).map(toRun);
}

/** The existing runs among `ids`, by id. */
export async function runsOfIds(
  { db }: StoreContext,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Run>> {
  const known = ids.filter(isRowId);
  if (known.length === 0) return new Map();
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('id', '=', (of) => of.fn.any(of.val(known)))
    .execute();
  return new Map(rows.map((row) => [row.id, toRun(row)]));
}

/** Open calls and limit of an organization. `limit` is `callLimit` without a limit of its own, and 0 for a deleted
 *  organization. */
export interface OpenCalls {
  limit: number;
  open: number;
}

/** Locks the organization as `withOrganizationLock` does, and counts its open calls, in one statement. */
export async function lockOpenCalls(
  tx: TransactionContext,
  { callLimit }: StoreContext,
  organizationId: string,
): Promise<OpenCalls> {
  const { rows } = await sql<LockedCalls>`
    select * from lock_open_calls(${organizationId}::bigint, ${callLimit}::integer)`.execute(tx);
  return { limit: rows[0]?.calls_max ?? 0, open: Number(rows[0]?.calls_open ?? 0) };
}

interface LockedCalls {
  calls_max: number;
  calls_open: string;
}

export async function insertRow(
  db: StoreContext['db'],
  context: StoreContext,
  input: NewRun,
  { isIdle }: { isIdle: boolean },
): Promise<Run> {
  const row = rowOf(context, input, { isIdle });
  const columns = columnsOf(row);
  const { rows } = await sql<RunRow>`
    insert into runs (${columns})
    select ${columns} from json_populate_record(null::runs, ${jsonText(row)}::json)
    returning *`.execute(db);
  const [made] = rows;
  assert(made !== undefined);
  return toRun(made);
}

/** The column names of a row of `rowOf`. */
export function columnsOf(row: object): RawBuilder<unknown> {
  return sql.join(Object.keys(row).map((column) => sql.ref(column)));
}

/** A new run as a row for `json_populate_record`. All have the same columns. */
export function rowOf(
  context: StoreContext,
  input: NewRun,
  { isIdle }: { isIdle: boolean },
): Record<string, unknown> {
  const given: Readonly<Record<string, unknown>> = { ...input };
  const row: Record<string, unknown> = {
    owner_node: context.node,
    owner_epoch: context.epoch,
    is_idle: isIdle,
    created_at: new Date(context.clock.now()),
  };
  for (const name of runFieldNames) {
    const { column, first }: RunFieldFacts = runFields[name];
    if (first !== undefined) row[column] = first === 'given' ? (given[name] ?? null) : first.value;
  }
  return row;
}
