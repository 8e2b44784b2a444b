// What the dispatcher asks of campaigns as a whole: which dial, how their calls have gone, and the changes
// of state that the gateway makes by itself.

import { sql } from 'kysely';
import type { AttemptOutcome, Campaign, CampaignLogEntry } from '../model/campaign.ts';
import { logged, names, toCampaign } from './campaigns.ts';
import type { StoreContext } from './context.ts';

/** Campaigns that one look serves: more run on no server, and those outside their hours cost two
 *  short statements. */
const DIALABLE_MAX = 5_000;

export async function dialableCampaigns({ db }: StoreContext): Promise<Campaign[]> {
  const rows = await db
    .selectFrom('campaigns')
    .selectAll()
    .select(names)
    .where('state', '=', 'running')
    .orderBy(sql`dial_next_at nulls first`)
    .orderBy('id')
    .limit(DIALABLE_MAX)
    .execute();
  return rows.map(toCampaign);
}

/** One step in an index for each running campaign. */
export async function firstRetry({ db }: StoreContext): Promise<Date | undefined> {
  const { rows } = await sql<{ due: Date | null }>`
    select min(first.due_at) as due from campaigns, lateral (
      select due_at from campaign_contacts
      where campaign_id = campaigns.id and state = 'waiting' order by due_at limit 1
    ) first
    where campaigns.state = 'running'`.execute(db);
  return rows[0]?.due ?? undefined;
}

export async function recentOutcomes(
  { db }: StoreContext,
  campaignId: string,
  since: Date,
): Promise<Map<AttemptOutcome, number>> {
  const { rows } = await sql<{ outcome: AttemptOutcome; attempts: number }>`
    select outcome, count(*)::int as attempts
    from campaign_attempts attempt join campaigns on campaigns.id = attempt.campaign_id
    where attempt.campaign_id = ${campaignId} and attempt.state = 'ended'
      and attempt.ended_at >= greatest(${since}::timestamptz, campaigns.breaker_since)
    group by outcome`.execute(db);
  return new Map(rows.map(({ outcome, attempts }) => [outcome, attempts]));
}

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

export async function completeCampaign(
  context: StoreContext,
  campaignId: string,
): Promise<boolean> {
  const row = await context.db
    .updateTable('campaigns')
    .set({
      state: 'completed',
      completed_at: new Date(context.clock.now()),
      logs: logged(context, {
        event: 'completed',
        message: 'Every contact was called as often as is due',
      }),
    })
    .where('id', '=', campaignId)
    .where('state', '=', 'running')
    .where((campaign) =>
      campaign.not(
        campaign.exists(
          campaign
            .selectFrom('campaign_contacts')
            .select('campaign_contacts.id')
            .whereRef('campaign_contacts.campaign_id', '=', 'campaigns.id')
            .where('campaign_contacts.state', 'in', ['fresh', 'waiting', 'calling']),
        ),
      ),
    )
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}
