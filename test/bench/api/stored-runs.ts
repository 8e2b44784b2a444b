// Fills a database for benchmarks of the API: runs of a year with their events, and a campaign that is half called. In
// pieces, with triggers and foreign keys off, as a restored table comes; the kept counts are recounted by the function
// that the maintenance uses.

import { Kysely, PostgresDialect } from 'kysely';
import { type Client, Pool } from 'pg';
import { RETRY_DEFAULT } from '../../../src/model/campaign.ts';
import { connectionConfig, type DatabaseTarget } from '../../../src/store/db/connections.ts';
import type { Tables } from '../../../src/store/db/tables.ts';
import { recountDay } from '../../../src/store/runs/run-counts.ts';

/** Runs of one statement, so that the embedded engine's log stays small. */
const PIECE_RUNS = 10_000;
const YEAR_S = 365 * 86_400;

export interface Stored {
  runs: number;
  /** Number of events of each run. */
  events: number;
  contacts: number;
}

export interface StoredRuns {
  runs: number;
  firstRunId: number;
  campaignId: string;
}

export async function storeRuns(
  client: Client,
  target: DatabaseTarget,
  { workflowId, runs, events, contacts }: Stored & { workflowId: string },
): Promise<StoredRuns> {
  await client.query('set session_replication_role = replica');
  const firstRunId = await insertRuns(client, workflowId, runs);
  await insertEvents(client, { firstRunId, runs, events });
  const campaignId = await insertCampaign(client, workflowId, contacts);
  await client.query('set session_replication_role = origin');
  await recount(target, workflowId);
  await client.query('vacuum analyze');
  return { runs, firstRunId, campaignId };
}

/** From now into the past, with the feedback items of a short talk. Returns the id of the oldest. */
async function insertRuns(client: Client, workflowId: string, runs: number): Promise<number> {
  const item = { type: 'rtf-bot-text', payload: { text: 'How may I help you today?' }, turn: 1 };
  const logs = { realtime_feedback_events: Array.from({ length: 20 }, () => item) };
  let firstRunId: number | undefined;
  for (let from = 0; from < runs; from += PIECE_RUNS) {
    const { rows } = await client.query<{ id: string }>(
      `with made as (
         insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
           owner_node, initial_context, gathered_context, usage_info, cost_info, logs, annotations,
           disposition, duration_s, created_at, started_at, ended_at)
         select w.organization_id, w.id, v.id, 'WR-API-' || n, 'twilio', 'outbound', 'completed',
           'bench', jsonb_build_object('phone_number', '+1415' || (5000000 + n)),
           '{"call_tags":["user_hangup"]}', '{}', '{}', $2, '{}',
           (array['user_hangup','user_qualified','busy','no-answer'])[1 + n % 4], (n * 37) % 300,
           now() - ($5::int - n) * $6::double precision * interval '1 second', now(), now()
         from workflows w join workflow_versions v on v.workflow_id = w.id,
           generate_series($3::int, $4::int) n
         where w.id = $1 order by n
         returning id
       ) select min(id) as id from made`,
      [
        workflowId,
        JSON.stringify(logs),
        from,
        Math.min(from + PIECE_RUNS, runs) - 1,
        runs,
        YEAR_S / runs,
      ],
    );
    firstRunId ??= Number(rows[0]?.id);
  }
  return firstRunId ?? 0;
}

async function insertEvents(
  client: Client,
  { firstRunId, runs, events }: { firstRunId: number; runs: number; events: number },
): Promise<void> {
  if (events === 0) return;
  const body = JSON.stringify({ type: 'bot.text', text: 'How may I help you today?' });
  for (let from = 0; from < runs; from += PIECE_RUNS) {
    await client.query(
      `insert into run_events (run_id, seq, at, media_ms, body)
       select id, seq, 1, seq * 100, $4
       from generate_series($1::bigint, $2::bigint) id, generate_series(1, $3::int) seq`,
      [firstRunId + from, firstRunId + Math.min(from + PIECE_RUNS, runs) - 1, events, body],
    );
  }
}

/** Half of its contacts are called, some twice. */
async function insertCampaign(
  client: Client,
  workflowId: string,
  contacts: number,
): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `insert into campaigns (organization_id, workflow_id, name, state, source_id, source_sync,
       total_rows, retry, rate_per_second, created_at, started_at)
     select organization_id, id, 'Bench', 'paused', 'campaigns/1/bench.csv', 'completed', $2, $3, 1,
       now(), now()
     from workflows where id = $1 returning id::text`,
    [workflowId, contacts, JSON.stringify(RETRY_DEFAULT)],
  );
  const campaignId = String(rows[0]?.id);
  for (let from = 1; from <= contacts; from += PIECE_RUNS) {
    await client.query(
      `insert into campaign_contacts
         (campaign_id, row_number, phone_number, variables, state, attempts, due_at, retry_reason,
          busy_retries)
       select $1, n + 1, '+1415' || (2000000 + n), '{}',
         (array['fresh', 'fresh', 'reached', 'failed', 'waiting'])[1 + n % 5],
         (array[0, 0, 1, 2, 1])[1 + n % 5], now(), case when n % 5 = 4 then 'busy' end,
         (n % 5 = 3)::int
       from generate_series($2::int, $3::int) n`,
      [campaignId, from, Math.min(from + PIECE_RUNS - 1, contacts)],
    );
  }
  await client.query(
    `insert into campaign_attempts (campaign_id, contact_id, number, retry_reason, state, node,
       lease_until, dial_at, outcome, ended_at)
     select campaign_id, id, number, case when number = 2 then 'busy' end, 'ended', 'bench', now(),
       now(), 'busy', now()
     from campaign_contacts, generate_series(1, attempts) number where campaign_id = $1`,
    [campaignId],
  );
  return campaignId;
}

async function recount(target: DatabaseTarget, workflowId: string): Promise<void> {
  const pool = new Pool({ ...connectionConfig(target, 'maintenance'), max: 1 });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    const { rows } = await pool.query<{ day: string }>(
      `select distinct (created_at at time zone 'UTC')::date::text as day from runs
       where workflow_id = $1`,
      [workflowId],
    );
    for (const { day } of rows) await recountDay({ db }, workflowId, day);
  } finally {
    await db.destroy();
  }
}
