// Starts of one organization in one statement, which is its own transaction: one lock of the organization, one count of
// its open calls, one insert, and the clients' keys with their runs. Separate starts would wait for each other's lock,
// and between their statements the embedded engine, and all others, for this process.

import { type RawBuilder, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import type { BatchResult } from '../../std/batches.ts';
import { REPEATABLE } from '../db/checked-client.ts';
import { jsonText } from '../db/column-values.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import { together } from '../db/together.ts';
import {
  columnsOf,
  type Inserted,
  type NewRun,
  rowOf,
  runsIn,
  runsOfIds,
  type StartedRun,
} from './run-insertion.ts';
import { toRun } from './runs.ts';

/** The client's idempotency key, and the hash of its request. */
export interface StartKey {
  key: string;
  /** Hash that is equal for equal requests: SHA-256, hexadecimal. */
  requestHash: string;
}

export interface WantedStart {
  input: NewRun;
  key: StartKey | undefined;
}

/** The run that a key has started. */
interface Known {
  requestHash: string;
  run: BatchResult<Run>;
  /** Id of the statement that stored the key; null for a statement that is never sent twice. */
  madeBy: string | null;
}

const KEY_LIFE_MS = 86_400_000;
/** Expired keys that each new one deletes: more than are added, and little work. */
const SWEPT_MAX = 100;

/** Starts of one organization, all with keys or all without. One result each: the run, CALL_LIMIT_REACHED or
 *  START_KEY_REUSED. Without keys it throws STORE_UNAVAILABLE if the connection is lost: a repetition could begin each
 *  twice. */
export function startAll(
  context: StoreContext,
  wanted: readonly WantedStart[],
): Promise<BatchResult<StartedRun>[]> {
  return together(wanted, (some) => startTogether(context, some));
}

async function startTogether(
  context: StoreContext,
  wanted: readonly WantedStart[],
): Promise<BatchResult<StartedRun>[]> {
  const { fresh, places } = withoutRepeated(wanted);
  const [first, ...rest] = fresh;
  if (first === undefined) return [];
  const madeBy = context.random.uuid();
  const { made, used, limit } = await insertWithinLimit(context, [first, ...rest], madeBy);
  const unused = fresh.filter(({ key }) => key === undefined || !used.has(key.key));
  const runs = new Map(unused.map((each, nth) => [each, made[nth]]));
  return wanted.map((each, nth) => {
    const { key } = each;
    const of = places[nth];
    const known = key && used.get(key.key);
    if (known !== undefined && known.requestHash !== key?.requestHash) return reused();
    if (known !== undefined) {
      if ('error' in known.run) return known.run;
      // The run is of this start: the answer to the statement was lost, and it was sent once more.
      const isNew = known.madeBy === madeBy && of === each;
      return { value: { run: known.run.value, isNew } };
    }
    const run = of && runs.get(of);
    if (run === undefined) return { error: new GatewayError('CALL_LIMIT_REACHED', { limit }) };
    if (of?.key?.requestHash !== key?.requestHash) return reused();
    return { value: { run, isNew: of === each } };
  });
}

/** The first start of each key; and for every start, the index of that one. */
function withoutRepeated(wanted: readonly WantedStart[]) {
  const byKey = new Map<string, WantedStart>();
  const places = wanted.map((each) => {
    if (each.key === undefined) return each;
    const first = byKey.get(each.key.key) ?? each;
    byKey.set(each.key.key, first);
    return first;
  });
  return { fresh: [...new Set(places)], places };
}

interface Insertion {
  /** Runs of the starts with unused keys, in their order, as far as the limit allows. */
  made: Run[];
  /** Runs of the used keys, by key. */
  used: ReadonlyMap<string, Known>;
  limit: number;
}

type Row = Inserted & {
  used_keys: Record<string, { hash: string; run: string; made_by: string | null }>;
};

/** Inserts the runs within the limit. The keys of `starts` are different. */
async function insertWithinLimit(
  context: StoreContext,
  starts: readonly [WantedStart, ...WantedStart[]],
  madeBy: string,
): Promise<Insertion> {
  const { organizationId } = starts[0].input;
  const fresh = starts.map(({ input }) => rowOf(context, input, { isIdle: false }));
  const columns = columnsOf(fresh[0] ?? {});
  const keys = starts.flatMap(({ key }) => (key === undefined ? [] : [key.key]));
  const { rows } = await sql<Row>`
    ${keys.length === starts.length ? REPEATABLE : sql``}
    with calls as materialized (
      select * from lock_starts(
        ${organizationId}::bigint, ${context.callLimit}::integer,
        ${keys}::text[], ${lapsedAt(context)}::timestamptz
      )
    ), wanted as materialized (
      select fresh.*, start_key, request_hash, calls_open, calls_max,
        row_number() over (order by ordinality) as place
      from calls, json_populate_recordset(null::runs, ${jsonText(fresh)}::json)
        with ordinality as fresh
      join unnest(
        ${starts.map(({ key }) => key?.key ?? null)}::text[],
        ${starts.map(({ key }) => key?.requestHash ?? null)}::text[]
      ) with ordinality as asked (start_key, request_hash, nth) on nth = ordinality
      where start_key is null or not used_keys ? start_key
    ), made as (
      insert into runs (${columns})
      select ${columns} from wanted where calls_open + place <= calls_max order by place
      returning *
    )${keys.length === 0 ? sql`` : keptKeys(context, keys, madeBy)}
    select calls.calls_max, used_keys, made.* from calls left join made on true`.execute(
    context.db,
  );
  const [first] = rows;
  const used = await knownRuns(context, first?.used_keys ?? {});
  return { made: runsIn(rows), used, limit: first?.calls_max ?? 0 };
}

/** Part of the statement that inserts runs: stores their keys, then removes old ones, so that two statements do not
 *  deadlock. */
function keptKeys(
  context: StoreContext,
  keys: readonly string[],
  madeBy: string,
): RawBuilder<unknown> {
  return sql`, kept as (
      insert into start_keys (organization_id, key, request_hash, run_id, created_at, made_by)
      select run.organization_id, start_key, request_hash, run.id,
        ${new Date(context.clock.now())}::timestamptz, ${madeBy}::text
      from wanted
      join (
        select id, organization_id, row_number() over (order by id) as nth from made
      ) as run on nth = place
      where start_key is not null
      on conflict (organization_id, key) do update set
        request_hash = excluded.request_hash,
        run_id = excluded.run_id,
        created_at = excluded.created_at,
        made_by = excluded.made_by
      returning key
    ), swept as (
      delete from start_keys where (select count(*) from kept) > 0 and ctid = any(array(
        select ctid from start_keys
        where created_at <= ${lapsedAt(context)} and key <> all(${keys}::text[])
        order by created_at limit ${SWEPT_MAX} for update skip locked
      ))
    )`;
}

/** Results for repeated requests, which are rare: only for these the runs are read. Never rejects: the other starts of
 *  the batch have begun. */
async function knownRuns(
  context: StoreContext,
  usedKeys: Row['used_keys'],
): Promise<ReadonlyMap<string, Known>> {
  const used = Object.entries(usedKeys);
  const ids = used.map(([, { run }]) => run);
  const runs = await runsOfIds(context, ids).catch((error: unknown) => ({ error }));
  return new Map(
    used.map(([key, { hash: requestHash, run: id, made_by: madeBy }]) => {
      return [key, { requestHash, run: 'error' in runs ? runs : runIn(runs, id), madeBy }];
    }),
  );
}

/** The run with the id; STORE_UNAVAILABLE if it was deleted at this moment, together with its key. */
function runIn(runs: ReadonlyMap<string, Run>, id: string): BatchResult<Run> {
  const run = runs.get(id);
  return run === undefined ? { error: new GatewayError('STORE_UNAVAILABLE') } : { value: run };
}

function reused(): { error: GatewayError } {
  return { error: new GatewayError('START_KEY_REUSED') };
}

/** The run that a key has started within the last day. */
export async function runOfKey(
  db: StoreContext['db'],
  context: StoreContext,
  { organizationId, key }: { organizationId: string; key: string },
): Promise<{ requestHash: string; run: Run } | undefined> {
  const row = await db
    .selectFrom('start_keys')
    .innerJoin('runs', 'runs.id', 'start_keys.run_id')
    .selectAll('runs')
    .select('start_keys.request_hash')
    .where('start_keys.organization_id', '=', organizationId)
    .where('start_keys.key', '=', key)
    .where('start_keys.created_at', '>', lapsedAt(context))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { request_hash: requestHash, ...run } = row;
  return { requestHash, run: toRun(run) };
}

/** Stores the key of a run that existed without a call. */
export async function keepKey(
  tx: TransactionContext,
  context: StoreContext,
  { run, key: { key, requestHash } }: { run: Run; key: StartKey },
): Promise<void> {
  const kept = {
    request_hash: requestHash,
    run_id: run.id,
    created_at: new Date(context.clock.now()),
    made_by: null,
  };
  await tx
    .insertInto('start_keys')
    .values({ organization_id: run.organizationId, key, ...kept })
    .onConflict((conflict) => conflict.columns(['organization_id', 'key']).doUpdateSet(kept))
    .execute();
}

function lapsedAt({ clock }: StoreContext): Date {
  return new Date(clock.now() - KEY_LIFE_MS);
}
