// The gateway's own rows after a trial, read past its API.

import type { Client } from 'pg';
import type { AttemptRow, ContactRow } from './judge.ts';

export async function contactRows(connection: Client): Promise<ContactRow[]> {
  const { rows } = await connection.query(
    `select phone_number as "phoneNumber", case state when 'reached' then 'done' else state end as state
     from campaign_contacts order by id`,
  );
  return rows;
}

export async function attemptRows(connection: Client): Promise<AttemptRow[]> {
  const { rows } = await connection.query(
    `select contact.phone_number as "phoneNumber", attempt.number, attempt.state, attempt.outcome,
       runs.provider_call_id as "callId"
     from campaign_attempts attempt join campaign_contacts contact on contact.id = attempt.contact_id
       left join runs on runs.id = attempt.run_id
     order by attempt.contact_id, attempt.number`,
  );
  return rows;
}

export async function openRuns(connection: Client): Promise<number> {
  const { rows } = await connection.query(
    `select count(*)::int as open from runs where state <> 'completed'`,
  );
  return rows[0].open;
}

/** The counters of the API, counted from attempts alone. */
export async function recount(connection: Client): Promise<Record<string, unknown>> {
  const { rows } = await connection.query(
    `select (select count(*)::int from campaign_contacts) as contact_count,
       count(*)::int as executed_count,
       count(*)::int as total_queued_count,
       count(*) filter (where number > 1)::int as retry_count,
       count(*) filter (where retry_reason = 'busy')::int as busy,
       count(*) filter (where retry_reason = 'no_answer')::int as no_answer,
       count(*) filter (where retry_reason = 'voicemail')::int as voicemail,
       count(distinct contact_id)::int as processed_rows,
       (select count(*)::int from campaign_contacts where id not in
         (select contact_id from campaign_attempts where outcome = 'answered')) as failed_count
     from campaign_attempts where state = 'ended'`,
  );
  const { busy, no_answer, voicemail, ...counts } = rows[0];
  const retryBreakdown = { busy, no_answer, voicemail };
  return { ...counts, retry_breakdown: retryBreakdown, in_flight_count: 0, retries_pending: 0 };
}
