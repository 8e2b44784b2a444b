// What the control API carries: a gateway of its own on either engine, with 100,000 runs and a campaign of
// 100,000 contacts, asked over sixteen connections, and lists of runs fifty times a second (open loop).

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'pg';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { type EngineName, engines, startDatabase } from '../store/databases.ts';
import { type LoadFigures, loadApi, loadApiOpenLoop } from './http-load.ts';

const RUNS = 100_000;
const CONTACTS = 100_000;
const REQUESTS = 2_000;
/** Each leaves an open call behind. */
const STARTS = 500;
/** Of clients who do not wait for one another. */
const OPEN_LOOP = { perSecond: 50, seconds: 20 };
const ACCOUNT_SID = `AC${'6'.repeat(32)}`;
const NUMBER = '+15550100999';

export interface ApiBench {
  /** Default: those of this machine. */
  engines?: readonly EngineName[];
  /** Default: 100,000. */
  runs?: number;
  /** Of each run. Default: none, lists read no event. */
  events?: number;
}

export async function benchApi(of: ApiBench = {}): Promise<Record<string, number>> {
  const { runs = RUNS, events = 0 } = of;
  const figures: Record<string, number> = {};
  for (const engine of of.engines ?? engines()) {
    for (const [what, load] of Object.entries(await measure(engine, { runs, events }))) {
      figures[`${engine}: ${what} (requests/s)`] = load.requestsPerSecond;
      figures[`${engine}: ${what} p50 (ms)`] = load.p50Ms;
      figures[`${engine}: ${what} p99 (ms)`] = load.p99Ms;
    }
  }
  return figures;
}

interface Stored {
  runs: number;
  events: number;
}

async function measure(engine: EngineName, stored: Stored): Promise<Record<string, LoadFigures>> {
  const database = await startDatabase(engine);
  const { target, dataFolder } = database;
  const gateway = await Gateway.start({
    dataFolder,
    logFile: join(dataFolder, 'gateway.log'),
    port: await freePort(),
    env: {
      PATCHBAY_CALL_LIMIT: '10000',
      // What it can do is measured, not what it refuses.
      PATCHBAY_LOAD_LIMIT: '0',
      PATCHBAY_DELAY_LIMIT_MS: '0',
      LOG_LEVEL: 'warn',
      PATCHBAY_STT: 'none',
      ...(target.kind === 'server' ? { DATABASE_URL: target.url } : {}),
    },
  });
  const provider = await startProvider();
  const client = await database.connect();
  try {
    const apiKey = await gateway.firstKey();
    const api = new ApiClient(gateway.url, apiKey);
    const agent = await setUp(api, provider.url);
    const seeded = await seed(client, agent.id, stored);
    return await ask({ url: gateway.url, apiKey }, agent, seeded);
  } finally {
    await client.end();
    await gateway.kill(); // Hundreds of calls ring that nobody will answer.
    await provider.close();
    await database.stop();
  }
}

interface Seeded {
  runs: number;
  firstRunId: number;
  campaignId: string;
}

async function ask(
  server: { url: string; apiKey: string },
  agent: { id: string; uuid: string },
  { runs, firstRunId, campaignId }: Seeded,
): Promise<Record<string, LoadFigures>> {
  const get = (path: (index: number) => string, requests = REQUESTS): Promise<LoadFigures> =>
    loadApi(server, requests, (index) => ({ method: 'GET', path: path(index) }));
  const filters = JSON.stringify([
    { attribute: 'dispositionCode', type: 'multiSelect', value: { codes: ['user_hangup'] } },
    { attribute: 'duration', type: 'numberRange', value: { min: 30, max: 90 } },
  ]);
  const filtered = `filters=${encodeURIComponent(filters)}&sort_by=duration`;
  const open = (path: (index: number) => string): Promise<LoadFigures> =>
    loadApiOpenLoop(server, OPEN_LOOP, (index) => ({ method: 'GET', path: path(index) }));
  const runsOf = `/workflow/${agent.id}/runs`;
  const list = {
    newest: () => runsOf,
    filtered: (index: number) => `${runsOf}?page=${1 + (index % 5)}&${filtered}`,
    any: (index: number) => `${runsOf}?page=${1 + ((index * 7_919) % (runs / 50))}`,
  };
  return {
    'run detail': await get(
      (index) => `/workflow/${agent.id}/runs/${firstRunId + ((index * 7_919) % runs)}`,
    ),
    'run list, newest': await get(list.newest, REQUESTS / 10),
    'run list, filtered and sorted': await get(list.filtered, REQUESTS / 10),
    'run list, newest, 50 a second': await open(list.newest),
    'run list, filtered and sorted, 50 a second': await open(list.filtered),
    'run list, any page, 50 a second': await open(list.any),
    'progress of 100,000 contacts': await get(
      () => `/campaign/${campaignId}/progress`,
      REQUESTS / 10,
    ),
    'run start': await loadApi(server, STARTS, (index) => ({
      method: 'POST',
      path: `/public/agent/workflow/${agent.uuid}`,
      body: { phone_number: `+1415${2_000_000 + index}` },
    })),
  };
}

async function setUp(api: ApiClient, url: string): Promise<{ id: string; uuid: string }> {
  const configurationId = await api.createConfiguration('Bench', {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: 'bench-token',
    api_base_url: url,
  });
  await api.addNumber(configurationId, { address: NUMBER, is_default_caller_id: true });
  return api.createWorkflow('Bench', {
    nodes: [
      { id: '1', type: 'startCall', position: { x: 0, y: 0 }, data: { name: 'A', prompt: 'Hi' } },
      { id: '2', type: 'endCall', position: { x: 0, y: 9 }, data: { name: 'B', prompt: 'Bye' } },
    ],
    edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
  });
}

/** Runs of a year, with the feedback items of a short talk. */
async function seed(client: Client, workflowId: string, { runs, events }: Stored): Promise<Seeded> {
  const item = { type: 'rtf-bot-text', payload: { text: 'How may I help you today?' }, turn: 1 };
  const logs = { realtime_feedback_events: Array.from({ length: 20 }, () => item) };
  await client.query(
    `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
       owner_node, initial_context, gathered_context, usage_info, cost_info, logs, annotations,
       disposition, duration_s, created_at, started_at, ended_at)
     select w.organization_id, w.id, v.id, 'WR-API-' || n, 'twilio', 'outbound', 'completed',
       'bench', '{"phone_number":"+14155550100"}', '{"call_tags":["user_hangup"]}', '{}', '{}', $2,
       '{}', (array['user_hangup','user_qualified','busy','no-answer'])[1 + n % 4], (n * 37) % 300,
       now() - n * interval '5 minutes', now(), now()
     from workflows w join workflow_versions v on v.workflow_id = w.id,
       generate_series(1, $3::int) n
     where w.id = $1`,
    [workflowId, JSON.stringify(logs), runs],
  );
  await client.query(
    `insert into run_events (run_id, seq, at, media_ms, body)
     select id, seq, 1, seq * 100, $1 from runs, generate_series(1, $2::int) seq`,
    [JSON.stringify({ type: 'bot.text', text: 'How may I help you today?' }), events],
  );
  const { rows } = await client.query('select min(id) as id from runs');
  const campaignId = await seedCampaign(client, workflowId);
  await client.query('vacuum analyze');
  return { runs, firstRunId: Number(rows[0]?.id), campaignId };
}

/** Half of them called, some twice. */
async function seedCampaign(client: Client, workflowId: string): Promise<string> {
  const { rows } = await client.query(
    `insert into campaigns (organization_id, workflow_id, name, state, source_id, source_sync,
       total_rows, retry, rate_per_second, created_at, started_at)
     select organization_id, id, 'Bench', 'paused', 'campaigns/1/bench.csv', 'completed', $2, $3, 1,
       now(), now()
     from workflows where id = $1 returning id`,
    [workflowId, CONTACTS, JSON.stringify(RETRY_DEFAULT)],
  );
  const campaignId = String(rows[0]?.id);
  await client.query(
    `insert into campaign_contacts
       (campaign_id, row_number, phone_number, variables, state, attempts, due_at, retry_reason)
     select $1, n + 1, '+1415' || (2000000 + n), '{}',
       (array['fresh', 'fresh', 'reached', 'failed', 'waiting'])[1 + n % 5],
       (array[0, 0, 1, 2, 1])[1 + n % 5], now(), case when n % 5 = 4 then 'busy' end
     from generate_series(1, $2::int) n`,
    [campaignId, CONTACTS],
  );
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

/** Answers every request as Twilio answers a dial. */
async function startProvider(): Promise<{ url: string; close: () => Promise<void> }> {
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      calls += 1;
      const isNumbers = request.url?.includes('IncomingPhoneNumbers') === true;
      response.writeHead(isNumbers ? 200 : 201, { 'content-type': 'application/json' });
      const number = { sid: 'PN1', phone_number: NUMBER };
      const sid = `CA${String(calls).padStart(32, '0')}`;
      const body = isNumbers ? { incoming_phone_numbers: [number] } : { sid, status: 'queued' };
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
