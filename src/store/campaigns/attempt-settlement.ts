// Settlement of attempts: which can be settled, and the resulting state of them and their contacts. Their start:
// dial-queue.ts; their life cycle: dial-attempts.ts.

import { type RawBuilder, type Selectable, sql } from 'kysely';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { RunTable } from '../db/tables.ts';
import { toRun } from '../runs/runs.ts';
import { type CampaignShard, isInShard } from './campaign-shards.ts';
import type { OpenAttempt, Settlement } from './dial-attempts.ts';

/** Attempts of one page, with their runs. */
export const SETTLE_MAX = 500;

/** Attempts that `node` started, whose lease has expired and whose call is unknown and not in doubt. */
export async function strandedAttempts(
  { db, time }: StoreContext,
  node: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('campaign_attempts as attempt')
    .innerJoin('runs', 'runs.id', 'attempt.run_id')
    .select('attempt.id')
    .where('attempt.state', '=', 'dialling')
    .where('attempt.node', '=', node)
    .where('attempt.lease_until', '<', time())
    .where('attempt.doubt_since', 'is', null)
    .where('runs.state', '=', 'initialized')
    .where('runs.provider_call_id', 'is', null)
    .limit(SETTLE_MAX)
    .execute();
  return rows.map(({ id }) => id);
}

/** Attempts whose run is completed (or gone), and those in doubt without a call, oldest first, in pages: `after`
 *  is the last one of the page before. `shard`: only of its campaigns. */
export async function settleable(
  { db, time }: StoreContext,
  after = '0',
  shard?: CampaignShard,
): Promise<OpenAttempt[]> {
  const msSince = (moment: RawBuilder<Date | null>) =>
    sql<number | null>`(extract(epoch from ${time()} - ${moment}) * 1000)::double precision`;
  const attempts = await db
    .selectFrom('campaign_attempts as attempt')
    .innerJoin('campaign_contacts as contact', 'contact.id', 'attempt.contact_id')
    .leftJoin('runs', 'runs.id', 'attempt.run_id')
    .select(['attempt.id', 'attempt.campaign_id', 'attempt.contact_id', 'attempt.number'])
    .select(['attempt.state', 'attempt.node', 'attempt.run_id', 'contact.phone_number'])
    .select(['contact.interruptions', 'contact.put_offs'])
    .select((row) => [
      row('attempt.doubt_since', 'is not', null).as('in_doubt'),
      msSince(sql`coalesce(attempt.doubt_since, runs.created_at)`).as('unclear_ms'),
      msSince(sql`attempt.missed_at`).as('missed_ms'),
      msSince(sql`contact.put_off_since`).as('put_off_ms'),
    ])
    .where('attempt.state', 'in', ['dialling', 'placed'])
    .where('attempt.id', '>', after)
    .where(isInShard(sql`attempt.campaign_id`, shard))
    .where((row) =>
      row.or([
        row('runs.id', 'is', null),
        row('runs.state', '=', 'completed'),
        row.and([
          row('attempt.doubt_since', 'is not', null),
          row('runs.state', '=', 'initialized'),
          row('runs.provider_call_id', 'is', null),
        ]),
      ]),
    )
    .orderBy('attempt.id')
    .limit(SETTLE_MAX)
    .execute();
  const ids = attempts.flatMap(({ run_id }) => (run_id === null ? [] : [run_id]));
  const runs: Selectable<RunTable>[] =
    ids.length === 0
      ? []
      : await db.selectFrom('runs').selectAll().where('id', 'in', ids).execute();
  const byId = new Map(runs.map((run) => [run.id, toRun(run)]));
  return attempts.map((row) => ({
    id: row.id,
    campaignId: row.campaign_id,
    contactId: row.contact_id,
    phoneNumber: row.phone_number,
    number: row.number,
    interruptions: row.interruptions,
    state: row.state === 'dialling' ? 'dialling' : 'placed',
    node: row.node,
    run: byId.get(row.run_id ?? ''),
    isInDoubt: row.in_doubt === true,
    unclearMs: row.unclear_ms ?? 0,
    missedMs: row.missed_ms,
    putOffs: row.put_offs,
    putOffMs: row.put_off_ms,
  }));
}

/** Ends an attempt, once. False if it had ended. */
export async function settleAttempt(
  { db, time }: StoreContext,
  attemptId: string,
  { outcome, again }: Settlement,
): Promise<boolean> {
  const finalState = outcome === 'answered' ? ('reached' as const) : ('failed' as const);
  const settled = await db
    .with('ended', (at) =>
      at
        .updateTable('campaign_attempts')
        .set({ state: 'ended', outcome, ended_at: time() })
        .where('id', '=', attemptId)
        .where('state', 'in', ['dialling', 'placed'])
        .returning('contact_id'),
    )
    .updateTable('campaign_contacts')
    .from('ended')
    .set({
      last_outcome: outcome,
      put_offs: 0,
      put_off_since: null,
      ...(again === null
        ? { state: finalState }
        : {
            state: 'waiting' as const,
            due_at: shifted(time(), again.delayMs),
            retry_reason: again.reason,
          }),
      ...(outcome === 'interrupted' ? { interruptions: sql`interruptions + 1` } : {}),
    })
    .whereRef('campaign_contacts.id', '=', 'ended.contact_id')
    .returning('campaign_contacts.id')
    .executeTakeFirst();
  return settled !== undefined;
}
