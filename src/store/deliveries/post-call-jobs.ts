// Completed runs with work left. The database itself inserts a row when a run is completed (migration 008), so that no
// code that completes a run can omit it.

import { type Selectable, sql } from 'kysely';
import type { Run } from '../../model/run.ts';
import { Batches } from '../../std/batches.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { shifted } from '../db/database-time.ts';
import { type DueClaim, dueIds, isFollowed } from '../db/due-rows.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { AfterworkTable } from '../db/tables.ts';
import { together, togetherLimits } from '../db/together.ts';
import { withContext } from '../db/with-context.ts';
import { toRun } from '../runs/runs.ts';
import type { NewDelivery } from './webhook-deliveries.ts';

/** The remaining work of a completed run. */
export interface PostCallJob {
  runId: string;
  organizationId: string;
  /** When the run was completed. */
  since: Date;
  /** Number of claims, this one included. */
  claims: number;
  /** Whether more work of the organization was due when it was claimed. */
  isFollowed: boolean;
}

export interface ReviewRecord {
  /** Key of the annotation. */
  key: string;
  annotation: Record<string, unknown>;
  tags: readonly string[];
  /** Key under `usage_info.llm` and the tokens to add; undefined if no model was asked. */
  usage: { key: string; tokens: Readonly<Record<string, number>> } | undefined;
}

/** Tags of one run that are stored. Models may invent any number. */
const TAGS_MAX = 200;

export type PostCallJobStore = ReturnType<typeof postCallJobStore>;

export function postCallJobStore(context: StoreContext) {
  const finishes = new Batches<Finish, undefined>(
    (finished) =>
      together(finished, async (some) => {
        await finishAll(context, some);
        return some.map(() => ({ value: undefined }));
      }),
    togetherLimits(({ deliveries }) => deliveries),
  );
  return withContext(context, {
    claim: claimAfterworks,
    subject,
    postpone,
    giveBack,
    annotate,
    finish: async (_context, runId: string, deliveries: readonly NewDelivery[]): Promise<void> => {
      if (isRowId(runId)) await finishes.add('', { runId, deliveries });
    },
  });
}

async function claimAfterworks(context: StoreContext, claim: DueClaim): Promise<PostCallJob[]> {
  const now = context.time();
  const of = { table: 'afterworks', id: 'run_id' };
  const due = dueIds(of, claim, now);
  const { rows } = await sql<Selectable<AfterworkTable> & { is_followed: boolean }>`
    update afterworks set due_at = ${shifted(now, claim.leaseMs)}, claims = claims + 1,
      claimed_node = ${context.node}
    where run_id in (${due})
    returning *, ${isFollowed(of, now)} as is_followed`.execute(context.db);
  return rows.map((row) => ({
    isFollowed: row.is_followed,
    runId: row.run_id,
    organizationId: row.organization_id,
    since: row.since,
    claims: row.claims,
  }));
}

/** The run of the work, with the name of its agent; undefined if they are gone. */
async function subject(
  { db }: StoreContext,
  runId: string,
): Promise<{ run: Run; workflowName: string } | undefined> {
  if (!isRowId(runId)) return undefined;
  const row = await db
    .selectFrom('runs')
    .innerJoin('workflows as of', 'of.id', 'runs.workflow_id')
    .selectAll('runs')
    .select('of.name as workflow_name')
    .where('runs.id', '=', runId)
    .executeTakeFirst();
  return row && { run: toRun(row), workflowName: row.workflow_name };
}

/** Work under one claim. */
type Claimed = Pick<PostCallJob, 'runId' | 'claims'>;

/** Postpones the work by `delayMs`. Does nothing if another process has claimed it since. */
async function postpone(
  context: StoreContext,
  { runId, claims }: Claimed,
  delayMs: number,
): Promise<void> {
  if (!isRowId(runId)) return;
  await context.db
    .updateTable('afterworks')
    .set({ due_at: shifted(context.time(), delayMs), claimed_node: null })
    .where('run_id', '=', runId)
    .where('claims', '=', claims)
    .execute();
}

/** Returns work that was not done because this process stops: the claim does not count. */
async function giveBack(context: StoreContext, { runId, claims }: Claimed): Promise<void> {
  if (!isRowId(runId)) return;
  await context.db
    .updateTable('afterworks')
    .set((of) => ({ due_at: context.time(), claims: of('claims', '-', 1), claimed_node: null }))
    .where('run_id', '=', runId)
    .where('claims', '=', claims)
    .execute();
}

/** Stores one node's review of the call: its annotation, tags and tokens. Does nothing if the node's annotation exists
 *  already. */
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

/** The end of a run's work. */
interface Finish {
  runId: string;
  deliveries: readonly NewDelivery[];
}

/** Ends completed work, and creates its deliveries, in one statement for all runs whose work ends at the same time. A
 *  node that has a delivery for the run keeps it. */
async function finishAll(
  { db, clock, time }: StoreContext,
  finished: readonly Finish[],
): Promise<void> {
  const fresh = finished
    .flatMap(({ runId, deliveries }) => deliveries.map((each) => deliveryRow(runId, each)))
    .map((row, nth) => ({ ...row, nth }));
  await sql`
    with made as (
      insert into deliveries (
        organization_id, workflow_id, run_id, node_id, node_name, method, url, headers,
        credential_uuid, body, state, due_at, created_at
      )
      select organization_id, workflow_id, runs.id, node_id, node_name, method, url, headers,
        credential_uuid, body, 'pending', ${time()}, ${new Date(clock.now())}::timestamptz
      from json_to_recordset(${jsonText(fresh)}::json) as fresh (
        run_id bigint, node_id text, node_name text, method text, url text, headers json,
        credential_uuid text, body text, nth integer
      )
      join runs on runs.id = fresh.run_id
      order by nth
      on conflict on constraint deliveries_node do nothing
    )
    delete from afterworks where run_id = any(${finished.map(({ runId }) => runId)}::bigint[])`.execute(
    db,
  );
}

function deliveryRow(runId: string, delivery: NewDelivery): object {
  return {
    run_id: runId,
    node_id: delivery.nodeId,
    node_name: delivery.nodeName,
    method: delivery.method,
    url: delivery.url,
    headers: delivery.headers,
    credential_uuid: delivery.credentialUuid,
    body: delivery.body,
  };
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
