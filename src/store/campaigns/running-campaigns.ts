// The dispatcher's queries over all campaigns: due contacts, outcomes of calls, and changes of state by the gateway
// itself.

import { sql } from 'kysely';
import { type AttemptOutcome, type CampaignLogEntry, UNHEARD } from '../../model/campaign.ts';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import { type CampaignShard, isInShard } from './campaign-shards.ts';
import { logged, names, toCampaign } from './campaigns.ts';
import { countFailed } from './contact-counts.ts';
import type { RunningCampaign } from './dial-attempts.ts';

/** Campaigns of one round: no server runs more, and those without a due contact cost a step or two in an index. */
const RUNNING_MAX = 5_000;

/** Running campaigns of all organizations, those without a call for the longest time first; those of `shard`, if it is
 *  given. One statement. */
export async function runningCampaigns(
  { db, time }: StoreContext,
  horizonMs: number,
  shard?: CampaignShard,
): Promise<RunningCampaign[]> {
  const firstDue = (state: 'waiting' | 'fresh') => sql`(
    select due_at from campaign_contacts
    where campaign_id = campaigns.id and campaign_contacts.state = ${sql.lit(state)}
    order by due_at limit 1)`;
  const rows = await db
    .selectFrom('campaigns')
    .selectAll()
    .select(names)
    .select((campaign) => [
      sql<boolean>`coalesce(dial_next_at <= ${shifted(time(), horizonMs)}, true)
        and coalesce(least(${firstDue('waiting')}, ${firstDue('fresh')}) <= ${time()}, false)`.as(
        'is_due',
      ),
      campaign
        .selectFrom('campaign_attempts')
        .select((attempt) => attempt.fn.countAll<string>().as('open'))
        .whereRef('campaign_attempts.campaign_id', '=', 'campaigns.id')
        .where('campaign_attempts.state', '<>', 'ended')
        .as('open_attempts'),
    ])
    .where('state', '=', 'running')
    .where(isInShard(sql`campaigns.id`, shard))
    .orderBy(sql`dial_next_at nulls first`)
    .orderBy('id')
    .limit(RUNNING_MAX)
    .execute();
  return rows.map((row) => ({
    campaign: toCampaign(row),
    isDue: row.is_due,
    openAttempts: Number(row.open_attempts),
  }));
}

/** Earliest due time of a retry in running campaigns of all organizations, or of `shard`; undefined if there is none. One
 *  index step per running campaign. */
export async function firstRetry(
  { db }: StoreContext,
  shard?: CampaignShard,
): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(first.due_at) as due from campaigns, lateral (
      select due_at from campaign_contacts
      where campaign_id = campaigns.id and state = 'waiting' order by due_at limit 1
    ) first
    where campaigns.state = 'running' and ${isInShard(sql`campaigns.id`, shard)}`.execute(db);
  return rows[0]?.due ?? undefined;
}

/** Outcomes of the last `windowMs`, but none from before the breaker's last reset. */
export async function recentOutcomes(
  { db, time }: StoreContext,
  campaignId: string,
  windowMs: number,
): Promise<Map<AttemptOutcome, number>> {
  const { rows } = await sql<{ outcome: AttemptOutcome; attempts: number }>`
    select outcome, count(*)::int as attempts
    from campaign_attempts attempt join campaigns on campaigns.id = attempt.campaign_id
    where attempt.campaign_id = ${campaignId} and attempt.state = 'ended'
      and attempt.ended_at >= greatest(${shifted(time(), -windowMs)}, campaigns.breaker_since)
    group by outcome`.execute(db);
  return new Map(rows.map(({ outcome, attempts }) => [outcome, attempts]));
}

/** Changes `running` to `paused` by the gateway itself, with the reason in the log. */
export async function stopCampaign(
  context: StoreContext,
  campaignId: string,
  entry: Omit<CampaignLogEntry, 'at'>,
): Promise<boolean> {
  const row = await context.db
    .updateTable('campaigns')
    .set({ state: 'paused', logs: logged(context, entry) })
    .where('id', '=', campaignId)
    .where('state', '=', 'running')
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Adds an entry to the log of a running campaign. */
export async function noteInLog(
  context: StoreContext,
  campaignId: string,
  entry: Omit<CampaignLogEntry, 'at'>,
): Promise<void> {
  await context.db
    .updateTable('campaigns')
    .set({ logs: logged(context, entry) })
    .where('id', '=', campaignId)
    .where('state', '=', 'running')
    .execute();
}

const COMPLETED = {
  event: 'completed',
  message: 'No contact is left to call; a redial also calls those that `details` counts',
};
/** Campaigns of one round; the next round takes the rest. */
const DONE_MAX = 100;

/** Changes `running` to `completed` for campaigns whose contacts are all done. Returns their ids. Locked rows are left
 *  for the next round, so that processes do not wait for each other. */
export async function completeDone(context: StoreContext): Promise<string[]> {
  const completed: string[] = [];
  const done = await doneCampaigns(context.db).limit(DONE_MAX).execute();
  for (const { id } of done) {
    // Contacts whose phone may never have rung. They no longer change.
    const unheard = await countFailed(context, id, UNHEARD);
    const details = Object.keys(unheard).length === 0 ? null : unheard;
    const row = await context.db
      .updateTable('campaigns')
      .set({
        state: 'completed',
        completed_at: new Date(context.clock.now()),
        logs: logged(context, { ...COMPLETED, details }),
      })
      .where('id', 'in', doneCampaigns(context.db).where('id', '=', id).forUpdate().skipLocked())
      .where('state', '=', 'running')
      .returning('id')
      .executeTakeFirst();
    if (row !== undefined) completed.push(row.id);
  }
  return completed;
}

/** Running campaigns whose contacts are all done. It compares a value with null, because `not exists` may read all
 *  contacts. */
function doneCampaigns(db: StoreContext['db']) {
  return db
    .selectFrom('campaigns')
    .select('id')
    .where('state', '=', 'running')
    .where(
      ({ selectFrom }) =>
        selectFrom('campaign_contacts')
          .select('campaign_contacts.id')
          .whereRef('campaign_contacts.campaign_id', '=', 'campaigns.id')
          .where('campaign_contacts.state', 'in', ['fresh', 'waiting', 'calling'])
          .limit(1),
      'is',
      null,
    );
}
