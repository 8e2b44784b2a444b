// Several starts of one organization in one transaction: one lock of the organization, one count of its open calls, one
// insert. Starts wait for each other's lock anyway; together they take one flush of the disk, and without keys one
// statement.

import { type Selectable, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import type { BatchResult } from '../../std/batches.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { together } from '../db/together.ts';
import type { NewRun, StartedRun } from './new-run.ts';
import { insertRows, insertWithinLimit, lockOpenCalls } from './run-insertion.ts';
import { toRun } from './runs.ts';

/** The client's idempotency key, and the hash of its request. */
export interface StartKey {
  key: string;
  /** Equal for equal requests: SHA-256, hexadecimal. */
  requestHash: string;
}

export interface WantedStart {
  input: NewRun;
  /** Of the organization's open calls; undefined: its own. */
  limit: number | undefined;
  key: StartKey | undefined;
}

/** A run that a key has started, or is about to. */
interface Known {
  requestHash: string;
  run: Run;
}

const KEY_LIFE_MS = 86_400_000;
/** Expired keys that new ones delete: more than are added, and little work. */
const SWEPT_MAX = 100;

/** Of one organization; a result for each: CALL_LIMIT_REACHED, START_KEY_REUSED. */
export function startAll(
  context: StoreContext,
  wanted: readonly WantedStart[],
): Promise<BatchResult<StartedRun>[]> {
  return together(wanted, (some) =>
    some.every(isPlain)
      ? startPlain(context, some)
      : context.db.transaction().execute((tx) => startTogether(tx, context, some)),
  );
}

function isPlain({ key, limit }: WantedStart): boolean {
  return key === undefined && limit === undefined;
}

async function startPlain(
  context: StoreContext,
  wanted: readonly WantedStart[],
): Promise<BatchResult<StartedRun>[]> {
  const [first, ...rest] = wanted.map(({ input }) => input);
  if (first === undefined) return [];
  const { made, limit } = await insertWithinLimit(context, [first, ...rest]);
  return wanted.map((_each, nth) => {
    const run = made[nth];
    if (run === undefined) return { error: new GatewayError('CALL_LIMIT_REACHED', { limit }) };
    return { value: { run, isNew: true } };
  });
}

async function startTogether(
  tx: TransactionContext,
  context: StoreContext,
  wanted: readonly WantedStart[],
): Promise<BatchResult<StartedRun>[]> {
  const organizationId = wanted[0]?.input.organizationId ?? '0';
  const calls = await lockOpenCalls(tx, context, organizationId);
  let { open } = calls;
  const keys = wanted.flatMap(({ key }) => (key === undefined ? [] : [key.key]));
  const stored = await runsOfKeys(tx, context, { organizationId, keys });
  const fresh: WantedStart[] = [];
  /** Of each wanted start: the place of its run among the fresh ones, or its result. */
  const places = wanted.map((each): number | BatchResult<StartedRun> => {
    const { key, limit = calls.limit } = each;
    const known = key && stored.get(key.key);
    if (known !== undefined) return again(known, key);
    const same = key === undefined ? -1 : fresh.findIndex((other) => other.key?.key === key.key);
    if (same !== -1) return fresh[same]?.key?.requestHash === key?.requestHash ? same : reused();
    if (open >= limit) return { error: new GatewayError('CALL_LIMIT_REACHED', { limit }) };
    open += 1;
    return fresh.push(each) - 1;
  });
  const made = await insertRows(
    tx,
    context,
    fresh.map(({ input }) => input),
  );
  await keepKeys(tx, context, { fresh, made });
  const seen = new Set<number>();
  return places.map((place) => {
    if (typeof place !== 'number') return place;
    const run = made[place];
    if (run === undefined) return { error: new GatewayError('STORE_UNAVAILABLE') };
    const isNew = !seen.has(place);
    seen.add(place);
    return { value: { run, isNew } };
  });
}

function again(known: Known, key: StartKey | undefined): BatchResult<StartedRun> {
  if (known.requestHash !== key?.requestHash) return reused();
  return { value: { run: known.run, isNew: false } };
}

function reused(): { error: GatewayError } {
  return { error: new GatewayError('START_KEY_REUSED') };
}

/** The runs that keys have started within the last day. */
export async function runsOfKeys(
  db: StoreContext['db'],
  context: StoreContext,
  { organizationId, keys }: { organizationId: string; keys: readonly string[] },
): Promise<Map<string, Known>> {
  if (keys.length === 0) return new Map();
  const rows = await db
    .selectFrom('start_keys')
    .innerJoin('runs', 'runs.id', 'start_keys.run_id')
    .selectAll('runs')
    .select(['start_keys.key', 'start_keys.request_hash'])
    .where('start_keys.organization_id', '=', organizationId)
    .where('start_keys.key', '=', (of) => of.fn.any(of.val([...keys])))
    .where('start_keys.created_at', '>', lapsedAt(context))
    .execute();
  return new Map(
    rows.map(({ key, request_hash: requestHash, ...run }) => {
      return [key, { requestHash, run: toRun(run as Selectable<RunTable>) }];
    }),
  );
}

/** `made`: the run of each start. */
export async function keepKeys(
  tx: TransactionContext,
  context: StoreContext,
  { fresh, made }: { fresh: readonly Pick<WantedStart, 'key'>[]; made: readonly Run[] },
): Promise<void> {
  const rows = fresh.flatMap(({ key }, nth) => {
    const run = made[nth];
    if (key === undefined || run === undefined) return [];
    const facts = { request_hash: key.requestHash, run_id: run.id };
    return [{ organization_id: run.organizationId, key: key.key, ...facts }];
  });
  if (rows.length === 0) return;
  await sql`
    delete from start_keys where ctid = any(array(
      select ctid from start_keys where created_at <= ${lapsedAt(context)}
      order by created_at limit ${SWEPT_MAX} for update skip locked
    ))`.execute(tx);
  const createdAt = new Date(context.clock.now());
  await tx
    .insertInto('start_keys')
    .values(rows.map((row) => ({ ...row, created_at: createdAt })))
    .onConflict((conflict) =>
      conflict.columns(['organization_id', 'key']).doUpdateSet((of) => ({
        request_hash: of.ref('excluded.request_hash'),
        run_id: of.ref('excluded.run_id'),
        created_at: of.ref('excluded.created_at'),
      })),
    )
    .execute();
}

function lapsedAt({ clock }: StoreContext): Date {
  return new Date(clock.now() - KEY_LIFE_MS);
}
