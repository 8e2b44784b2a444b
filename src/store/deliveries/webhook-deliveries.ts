// Deliveries of webhooks: claimed under a lease, and tried until they are delivered or become dead letters. Sending
// them is in call/end/after.

import { type Selectable, sql } from 'kysely';
import type { DeliveryState } from '../../model/delivery-state.ts';
import { isRowId, plainText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import { type DueClaim, dueIds, isFollowed } from '../db/due-rows.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { DeliveryTable } from '../db/tables.ts';
import { withContext } from '../db/with-context.ts';

export interface NewDelivery {
  nodeId: string;
  nodeName: string;
  method: string;
  url: string;
  /** Headers except those with secrets. */
  headers: readonly (readonly [string, string])[];
  credentialUuid: string | null;
  /** JSON text; null for methods without a body. */
  body: string | null;
}

export interface Delivery extends NewDelivery {
  id: string;
  organizationId: string;
  workflowId: string;
  runId: string;
  state: DeliveryState;
  /** Attempts since its creation or manual repetition, including the one in progress. */
  attempts: number;
  /** Number of claims, which the result of an attempt must name. */
  claims: number;
  /** Time of the next attempt; during an attempt, the end of its lease. Null once the delivery is over. */
  dueAt: Date | null;
  createdAt: Date;
  attemptedAt: Date | null;
  finishedAt: Date | null;
  responseStatus: number | null;
  /** Start of the receiver's answer. */
  responseExcerpt: string | null;
  error: string | null;
}

export interface ClaimedDelivery extends Delivery {
  /** Whether another delivery of the organization was due when it was claimed. */
  isFollowed: boolean;
}

export type DeliveryOutcome =
  | { state: 'delivered'; responseStatus: number; responseExcerpt: string }
  | {
      state: 'pending';
      retryMs: number;
      responseStatus: number | null;
      responseExcerpt: string | null;
      error: string;
    }
  | {
      state: 'dead_letter';
      responseStatus: number | null;
      responseExcerpt: string | null;
      error: string;
    };

export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  runId?: string | undefined;
  limit: number;
  offset: number;
}

/** Deliveries behind the start of a page that are counted: that takes some milliseconds. */
const COUNTED_MAX = 10_000;

const INTERRUPTED = 'The gateway was stopped during the last attempt.';

export type DeliveryStore = ReturnType<typeof deliveryStore>;

export function deliveryStore(context: StoreContext) {
  return withContext(context, {
    claim: claimDeliveries,
    report,
    release,
    list: listDeliveries,
    get: getDelivery,
    redeliver,
    oldestWaiting,
  });
}

/** Claims due deliveries. The attempt counts, also if a kill interrupts it. A delivery whose last attempt was
 *  interrupted becomes a dead letter instead. */
async function claimDeliveries(
  context: StoreContext,
  claim: DueClaim & { attemptsMax: number },
): Promise<ClaimedDelivery[]> {
  const now = context.time();
  const of = { table: 'deliveries', id: 'id' };
  const shown = new Date(context.clock.now());
  const isLost = sql`attempts >= ${claim.attemptsMax}`;
  const { rows } = await sql<Selectable<DeliveryTable> & { is_followed: boolean }>`
    update deliveries set
      state = case when ${isLost} then 'dead_letter' else 'sending' end,
      attempts = case when ${isLost} then attempts else attempts + 1 end,
      due_at = case when ${isLost} then null else ${shifted(now, claim.leaseMs)} end,
      attempted_at = case when ${isLost} then attempted_at else ${shown}::timestamptz end,
      finished_at = case when ${isLost} then ${shown}::timestamptz else null end,
      error = case when ${isLost} then ${INTERRUPTED} else error end,
      claims = claims + 1,
      claimed_node = ${context.node}
    where id in (${dueIds(of, claim, now)})
    returning *, ${isFollowed(of, now)} as is_followed`.execute(context.db);
  return rows.map((row) => ({ ...toDelivery(row), isFollowed: row.is_followed }));
}

/** Stores the result of the attempt of `claims`. A success always counts; any other result only if the delivery has not
 *  been claimed since. */
async function report(
  context: StoreContext,
  id: string,
  claims: number,
  outcome: DeliveryOutcome,
): Promise<void> {
  if (!isRowId(id)) return;
  const isPending = outcome.state === 'pending';
  const excerpt = outcome.responseExcerpt;
  await context.db
    .updateTable('deliveries')
    .set({
      state: outcome.state,
      due_at: isPending ? shifted(context.time(), outcome.retryMs) : null,
      finished_at: isPending ? null : new Date(context.clock.now()),
      response_status: outcome.responseStatus,
      response_excerpt: excerpt === null ? null : plainText(excerpt),
      error: outcome.state === 'delivered' ? null : plainText(outcome.error),
    })
    .where('id', '=', id)
    .where((of) =>
      outcome.state === 'delivered'
        ? of('state', '<>', 'delivered')
        : of.and([of('state', '=', 'sending'), of('claims', '=', claims)]),
    )
    .execute();
}

/** Returns a delivery that was not sent because this process stops: the attempt does not count. */
async function release(context: StoreContext, id: string, claims: number): Promise<void> {
  if (!isRowId(id)) return;
  await context.db
    .updateTable('deliveries')
    .set((of) => ({
      state: 'pending',
      attempts: of('attempts', '-', 1),
      due_at: context.time(),
    }))
    .where('id', '=', id)
    .where('state', '=', 'sending')
    .where('claims', '=', claims)
    .execute();
}

/** One page of deliveries, newest first. `total` is exact up to COUNTED_MAX behind the start of the page, and that
 *  number where there are more. */
async function listDeliveries(
  { db }: StoreContext,
  organizationId: string,
  { state, runId, limit, offset }: DeliveryFilter,
): Promise<{ deliveries: Delivery[]; total: number }> {
  const isNone = !isRowId(organizationId) || (runId !== undefined && !isRowId(runId));
  if (isNone) return { deliveries: [], total: 0 };
  const wanted = db
    .selectFrom('deliveries')
    .where('organization_id', '=', organizationId)
    .$if(state !== undefined, (query) => query.where('state', '=', state ?? 'pending'))
    .$if(runId !== undefined, (query) => query.where('run_id', '=', runId ?? ''));
  const { count } = await db
    .selectFrom(
      wanted
        .select('id')
        .limit(offset + COUNTED_MAX)
        .as('counted'),
    )
    .select((of) => of.fn.countAll<string>().as('count'))
    .executeTakeFirstOrThrow();
  const rows = await wanted.selectAll().orderBy('id', 'desc').limit(limit).offset(offset).execute();
  return { deliveries: rows.map(toDelivery), total: Number(count) };
}

async function getDelivery(
  { db }: StoreContext,
  organizationId: string,
  id: string,
): Promise<Delivery | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  const row = await db
    .selectFrom('deliveries')
    .selectAll()
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row === undefined ? undefined : toDelivery(row);
}

/** Sends a delivery once more as if it were new; one in progress is unchanged. */
async function redeliver(
  context: StoreContext,
  organizationId: string,
  id: string,
): Promise<Delivery | undefined> {
  if (!isRowId(organizationId) || !isRowId(id)) return undefined;
  await context.db
    .updateTable('deliveries')
    .set({
      state: 'pending',
      attempts: 0,
      due_at: context.time(),
      finished_at: null,
    })
    .where('id', '=', id)
    .where('organization_id', '=', organizationId)
    .where('state', '<>', 'sending')
    .execute();
  return getDelivery(context, organizationId, id);
}

/** Creation time of the oldest delivery that is not over, of all organizations. */
async function oldestWaiting({ db }: StoreContext): Promise<Date | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .select((of) => of.fn.min('created_at').as('oldest'))
    .where('due_at', 'is not', null)
    .executeTakeFirst();
  return row?.oldest ?? undefined;
}

function toDelivery(row: Selectable<DeliveryTable>): Delivery {
  return {
    id: row.id,
    organizationId: row.organization_id,
    workflowId: row.workflow_id,
    runId: row.run_id,
    nodeId: row.node_id,
    nodeName: row.node_name,
    method: row.method,
    url: row.url,
    headers: row.headers,
    credentialUuid: row.credential_uuid,
    body: row.body,
    state: row.state,
    attempts: row.attempts,
    claims: row.claims,
    dueAt: row.due_at,
    createdAt: row.created_at,
    attemptedAt: row.attempted_at,
    finishedAt: row.finished_at,
    responseStatus: row.response_status,
    responseExcerpt: row.response_excerpt,
    error: row.error,
  };
}
