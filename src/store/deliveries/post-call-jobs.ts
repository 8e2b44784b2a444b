// Completed runs with work left. The database itself inserts a row when a run is completed (migration 008), so that
// no way of completing a run can omit it.

import { type Selectable, sql } from 'kysely';
import { isRowId, jsonText, plainText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import { type DueClaim, dueIds } from '../db/due-rows.ts';
import type { StoreContext, TransactionContext } from '../db/store-context.ts';
import type { AfterworkTable } from '../db/tables.ts';
import { withContext } from '../db/with-context.ts';
import type { NewDelivery } from './webhook-deliveries.ts';

/** The remaining work of a completed run. */
export interface PostCallJob {
  runId: string;
  organizationId: string;
  /** When the run was completed. */
  since: Date;
  /** Number of claims, this one included. */
  claims: number;
}

export interface ReviewRecord {
  /** Key of the annotation. */
  key: string;
  annotation: Record<string, unknown>;
  tags: readonly string[];
  /** Key under `usage_info.llm` and the tokens to add; undefined if no model was asked. */
  usage: { key: string; tokens: Readonly<Record<string, number>> } | undefined;
}

/** Tags of one run. Models may invent any number. */
const TAGS_MAX = 200;

export type PostCallJobStore = ReturnType<typeof postCallJobStore>;

export function postCallJobStore(context: StoreContext) {
  return withContext(context, {
    claim: claimAfterworks,
    postpone,
    annotate,
    finish,
  });
}

async function claimAfterworks(context: StoreContext, claim: DueClaim): Promise<PostCallJob[]> {
  const now = context.time();
  const due = dueIds({ table: 'afterworks', id: 'run_id' }, claim, now);
  const { rows } = await sql<Selectable<AfterworkTable>>`
    update afterworks set due_at = ${shifted(now, claim.leaseMs)}, claims = claims + 1
    where run_id in (${due})
    returning *`.execute(context.db);
  return rows.map((row) => ({
    runId: row.run_id,
    organizationId: row.organization_id,
    since: row.since,
    claims: row.claims,
  }));
}

/** The work is repeated after `delayMs`. */
async function postpone(context: StoreContext, runId: string, delayMs: number): Promise<void> {
  if (!isRowId(runId)) return;
  await context.db
    .updateTable('afterworks')
    .set({ due_at: shifted(context.time(), delayMs) })
    .where('run_id', '=', runId)
    .execute();
}

/** One node's review of the call: its annotation, its tags, its tokens. Does nothing if the node's annotation
 *  exists already. */
async function annotate(context: StoreContext, runId: string, review: ReviewRecord): Promise<void> {
  if (!isRowId(runId)) return;
  await context.db.transaction().execute(async (tx) => {
    const run = await tx
      .selectFrom('runs')
      .select(['annotations', 'usage_info'])
      .where('id', '=', runId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (run === undefined || Object.hasOwn(run.annotations, review.key)) return;
    const tags = [...new Set([...textsIn(run.annotations['tags']), ...review.tags])];
    const annotations = {
      ...run.annotations,
      [review.key]: review.annotation,
      ...(tags.length === 0 ? {} : { tags: tags.slice(0, TAGS_MAX) }),
    };
    await tx
      .updateTable('runs')
      .set({
        annotations: jsonText(annotations),
        ...(review.usage === undefined
          ? {}
          : { usage_info: jsonText(withUsage(run.usage_info ?? {}, review.usage)) }),
      })
      .where('id', '=', runId)
      .execute();
  });
}

/** Everything is done: creates the deliveries and ends the work in one transaction. A node that has a delivery
 *  for the run keeps it. */
async function finish(
  context: StoreContext,
  runId: string,
  deliveries: readonly NewDelivery[],
): Promise<void> {
  if (!isRowId(runId)) return;
  await context.db.transaction().execute(async (tx) => {
    const run = await tx
      .selectFrom('runs')
      .select(['organization_id', 'workflow_id'])
      .where('id', '=', runId)
      .executeTakeFirst();
    if (run === undefined) return;
    for (const delivery of deliveries) {
      await insertDelivery(tx, context, { ...run, run_id: runId }, delivery);
    }
    await tx.deleteFrom('afterworks').where('run_id', '=', runId).execute();
  });
}

async function insertDelivery(
  tx: TransactionContext,
  { clock, time }: StoreContext,
  owner: { organization_id: string; workflow_id: string; run_id: string },
  delivery: NewDelivery,
): Promise<void> {
  await tx
    .insertInto('deliveries')
    .values({
      ...owner,
      node_id: delivery.nodeId,
      node_name: delivery.nodeName,
      method: delivery.method,
      url: delivery.url,
      headers: jsonText(delivery.headers),
      credential_uuid: delivery.credentialUuid,
      body: delivery.body === null ? null : plainText(delivery.body),
      state: 'pending',
      due_at: time(),
      created_at: new Date(clock.now()),
    })
    .onConflict((conflict) => conflict.constraint('deliveries_node').doNothing())
    .execute();
}

function withUsage(
  usage: Record<string, unknown>,
  added: NonNullable<ReviewRecord['usage']>,
): Record<string, unknown> {
  const llm = fieldsIn(usage['llm']);
  const before = fieldsIn(llm[added.key]);
  const sums = { ...before };
  for (const [kind, tokens] of Object.entries(added.tokens)) {
    const sum = before[kind];
    sums[kind] = (typeof sum === 'number' ? sum : 0) + tokens;
  }
  return { ...usage, llm: { ...llm, [added.key]: sums } };
}

function fieldsIn(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
