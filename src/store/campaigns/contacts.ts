// The contacts of campaigns as rows, and their counts. Dialling: dial-queue.ts.

import { sql } from 'kysely';
import type { CampaignCounts } from '../../model/campaign.ts';
import { isRowId, jsonText } from '../db/column-values.ts';
import { readTime } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';
import type { NewContact } from './dial-attempts.ts';

/** A statement allows 65,535 values. */
const ADD_MAX = 1_000;

/** Existing rows are unchanged. At most a thousand at a time. */
export async function addContacts(
  context: StoreContext,
  campaignId: string,
  contacts: readonly NewContact[],
): Promise<void> {
  if (contacts.length === 0) return;
  if (contacts.length > ADD_MAX) throw new RangeError(`at most ${ADD_MAX} contacts at a time`);
  const dueAt = await readTime(context);
  await context.db
    .insertInto('campaign_contacts')
    .values(
      contacts.map(({ rowNumber, phoneNumber, variables }) => ({
        campaign_id: campaignId,
        row_number: rowNumber,
        phone_number: phoneNumber,
        variables: jsonText(variables),
        due_at: dueAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['campaign_id', 'row_number']).doNothing())
    .execute();
}

interface CountRow {
  campaign_id: string;
  contacts: number;
  attempted: number;
  reached: number;
  failed: number;
  calling: number;
  attempts: number;
  again: number;
  waiting: number;
}

interface RetryRow {
  campaign_id: string;
  retry_reason: string | null;
  retries: number;
}

/** Contacts have the number of attempts; attempts and waiting contacts have the reasons of retries. */
export async function countContacts(
  { db }: StoreContext,
  campaignIds: readonly string[],
): Promise<Map<string, CampaignCounts>> {
  const ids = campaignIds.filter(isRowId);
  const { rows } = await sql<CountRow>`
    select campaign_id, count(*)::int as contacts,
      count(*) filter (where attempts > 0)::int as attempted,
      count(*) filter (where state = 'reached')::int as reached,
      count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state = 'calling')::int as calling,
      coalesce(sum(attempts), 0)::int as attempts,
      coalesce(sum(greatest(attempts - 1, 0)), 0)::int as again,
      count(*) filter (where state = 'waiting')::int as waiting
    from campaign_contacts where campaign_id = any(${ids}) group by campaign_id`.execute(db);
  const { rows: retries } = await sql<RetryRow>`
    select campaign_id, retry_reason, count(*)::int as retries from (
      select campaign_id, retry_reason from campaign_attempts
      where campaign_id = any(${ids}) and retry_reason is not null
      union all
      select campaign_id, retry_reason from campaign_contacts
      where campaign_id = any(${ids}) and state = 'waiting'
    ) each_retry group by campaign_id, retry_reason`.execute(db);
  const counted = new Map(rows.map((row) => [row.campaign_id, row]));
  return new Map(
    ids.map((id) => [
      id,
      countsOf(
        counted.get(id),
        retries.filter((row) => row.campaign_id === id),
      ),
    ]),
  );
}

function countsOf(row: CountRow | undefined, retries: readonly RetryRow[]): CampaignCounts {
  const by = (reason: string): number =>
    retries.find(({ retry_reason }) => retry_reason === reason)?.retries ?? 0;
  const waiting = row?.waiting ?? 0;
  const calling = row?.calling ?? 0;
  const made = row?.attempts ?? 0;
  const contacts = row?.contacts ?? 0;
  return {
    contacts,
    attempted: row?.attempted ?? 0,
    reached: row?.reached ?? 0,
    failed: row?.failed ?? 0,
    inFlight: calling,
    executed: made - calling,
    attempts: contacts + (row?.again ?? 0) + waiting,
    retries: (row?.again ?? 0) + waiting,
    retriesPending: waiting,
    retriesBy: { busy: by('busy'), no_answer: by('no_answer'), voicemail: by('voicemail') },
  };
}
