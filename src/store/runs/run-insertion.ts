// Insertion of runs, within the limit of an organization's open calls: its row is locked, so that each start counts the
// one before it.

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import { jsonText } from '../db/column-values.ts';
import { lockOrganization } from '../db/organization-lock.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import type { NewRun, StartedRun } from './new-run.ts';
import { isOpen, toRun } from './runs.ts';

/** Throws CALL_LIMIT_REACHED if the organization already has `limit` runs that are not completed; the default is
 *  its own limit. A provider's call that has a run already gets that run, also for concurrent requests. */
export async function insertNewRun(
  context: StoreContext,
  input: NewRun,
  limit?: number,
): Promise<StartedRun> {
  return context.db.transaction().execute((tx) => insertRun(tx, context, input, limit));
}

/** `limit`: undefined for the organization's own. Throws CALL_LIMIT_REACHED. */
export async function insertRun(
  tx: TransactionContext,
  context: StoreContext,
  input: NewRun,
  limit: number | undefined,
): Promise<StartedRun> {
  // Each counts the one before it.
  const own = await lockOrganization(tx, input.organizationId);
  const most = limit ?? (own === undefined ? 0 : (own ?? context.callLimit));
  const run = await insertWithin(tx, context, input, most);
  if (run !== undefined) return { run, isNew: true };
  const known = await runOfProviderCall(tx, input);
  if (known !== undefined) return { run: known, isNew: false };
  throw new GatewayError('CALL_LIMIT_REACHED', { limit: most });
}

/** One statement, because calls arrive by the dozen per second while others talk. Undefined if the call has a
 *  run already, or the organization is at its limit of open runs. */
async function insertWithin(
  tx: TransactionContext,
  context: StoreContext,
  input: NewRun,
  limit: number,
): Promise<Run | undefined> {
  const values = valuesOf(context, input, { isIdle: false });
  const { rows } = await sql<Selectable<RunTable>>`
    insert into runs (${sql.join(Object.keys(values).map((column) => sql.ref(column)))})
    select ${sql.join(Object.values(values))}
    where not exists (
      select from runs as known
      where known.configuration_id = ${input.configurationId}
        and known.provider_call_id = ${input.providerCallId}
    ) and ${limit} > (
      select count(*) from runs where organization_id = ${input.organizationId} and ${isOpen()}
    )
    returning *`.execute(tx);
  const [row] = rows;
  return row === undefined ? undefined : toRun(row);
}

/** Of an organization without a limit of its own it is `callLimit`; of one that is gone, 0. */
export interface OpenCalls {
  limit: number;
  open: number;
}

/** Locks the organization as `lockOrganization` does, and counts its open calls, in one statement. */
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
  const row = await db
    .insertInto('runs')
    .values(valuesOf(context, input, { isIdle }))
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRun(row);
}

/** Runs with calls, in one statement; in the order of `inputs`. */
export async function insertRows(
  tx: TransactionContext,
  context: StoreContext,
  inputs: readonly NewRun[],
): Promise<Run[]> {
  if (inputs.length === 0) return [];
  const rows = await tx
    .insertInto('runs')
    .values(inputs.map((input) => valuesOf(context, input, { isIdle: false })))
    .returningAll()
    .execute();
  return inOrder(rows);
}

/** Runs with calls of one organization as far as its limit has room, the first of `inputs` first, in one statement that
 *  is a transaction of its own: between statements the embedded engine would wait for the client, and all others for it.
 *  Throws STORE_UNAVAILABLE if the connection is lost: sent once more it could start each call twice. */
export async function insertWithinLimit(
  context: StoreContext,
  inputs: readonly [NewRun, ...NewRun[]],
): Promise<{ made: Run[]; limit: number }> {
  const fresh = inputs.map((input) => rowOf(context, input, { isIdle: false }));
  const columns = sql.join(Object.keys(fresh[0] ?? {}).map((column) => sql.ref(column)));
  const { rows } = await sql<Selectable<RunTable> & Pick<LockedCalls, 'calls_max'>>`
    with calls as materialized (
      select * from lock_open_calls(
        ${inputs[0].organizationId}::bigint, ${context.callLimit}::integer
      )
    ), made as (
      insert into runs (${columns})
      select ${columns}
      from calls, json_populate_recordset(null::runs, ${jsonText(fresh)}::json)
        with ordinality as fresh
      where calls_open + ordinality <= calls_max
      order by ordinality
      returning *
    )
    select calls_max, made.* from calls left join made on true`.execute(context.db);
  const made = rows.filter(({ id }) => id !== null);
  return { made: inOrder(made), limit: rows[0]?.calls_max ?? 0 };
}

/** Ids are given in the order of the values. */
function inOrder(rows: readonly Selectable<RunTable>[]): Run[] {
  return rows.toSorted((one, other) => Number(one.id) - Number(other.id)).map(toRun);
}

function valuesOf(context: StoreContext, input: NewRun, { isIdle }: { isIdle: boolean }) {
  const row = rowOf(context, input, { isIdle });
  return {
    ...row,
    initial_context: jsonText(row.initial_context),
    gathered_context: jsonText(row.gathered_context),
    logs: jsonText(row.logs),
    annotations: jsonText(row.annotations),
  };
}

function rowOf(context: StoreContext, input: NewRun, { isIdle }: { isIdle: boolean }) {
  return {
    organization_id: input.organizationId,
    workflow_id: input.workflowId,
    definition_id: input.definitionId,
    campaign_id: input.campaignId ?? null,
    name: input.name,
    mode: input.mode,
    call_type: input.callType,
    state: 'initialized' as const,
    configuration_id: input.configurationId,
    provider_call_id: input.providerCallId,
    owner_node: context.node,
    owner_epoch: context.epoch,
    initial_context: input.initialContext,
    gathered_context: input.gatheredContext,
    usage_info: null,
    cost_info: null,
    logs: input.logs,
    annotations: {},
    is_idle: isIdle,
    created_at: new Date(context.clock.now()),
  };
}

/** The existing run of the provider's call, for a repeated webhook. */
async function runOfProviderCall(
  tx: TransactionContext,
  { configurationId, providerCallId }: NewRun,
): Promise<Run | undefined> {
  if (providerCallId === null) return undefined;
  const row = await tx
    .selectFrom('runs')
    .selectAll()
    .where('configuration_id', '=', configurationId)
    .where('provider_call_id', '=', providerCallId)
    .executeTakeFirst();
  return row === undefined ? undefined : toRun(row);
}
