// What a call costs a PostgreSQL server: statements, time, WAL and updated rows of an inbound call, a call that a client
// starts, and a contact of a campaign, from the ring to the closed run, with a webhook after the call. Needs the build.
// `npx tsx test/bench/statements/call-statements.ts [--calls 60] [--json FILE] [--all]`

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { ApiClient } from '../../demo/api-client.ts';
import { Gateway } from '../../demo/gateway.ts';
import { freePort } from '../../fakes/free-port.ts';
import { startScriptedServer } from '../../fakes/scripted-server.ts';
import { type FakeTwilio, startFakeTwilio } from '../../fakes/twilio/fake-twilio.ts';
import { startServer } from '../../store/databases.ts';
import { CampaignClient } from '../../trial/campaign-client.ts';
import {
  between,
  prepareStatistics,
  type Reading,
  readStatistics,
  STATISTICS_SETTINGS,
} from './statement-log.ts';

const ACCOUNT_SID = `AC${'4'.repeat(32)}`;
const AUTH_TOKEN = 'statements-token';
const NUMBER = '+14155550100';
const CAMPAIGN_NUMBER = '+14155550101';
/** A call a quarter of a second: none shares a statement with another by chance alone. */
const PACE_MS = 250;
const RING_MS = 150;
const TALK_MS = 2_000;
const DONE_MS_MAX = 120_000;
const IDLE_MS = 15_000;

interface Rig {
  client: Client;
  api: ApiClient;
  twilio: FakeTwilio;
  gateway: Gateway;
  apiKey: string;
  agent: { id: string; uuid: string };
}

interface Figure {
  calls: number;
  statements: number;
  planMs: number;
  runMs: number;
  walBytes: number;
  updated: number;
  hot: number;
  list: { per: number; ms: number; text: string }[];
  tables: { table: string; inserted: number; updated: number; hot: number }[];
}

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '60' },
    json: { type: 'string' },
    all: { type: 'boolean', default: false },
  },
});
await main();

async function main(): Promise<void> {
  const calls = Number(values.calls);
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-statements-'));
  const server = await startServer(undefined, STATISTICS_SETTINGS);
  const client = new Client({ connectionString: server.url });
  const port = await freePort();
  const receiver = await startScriptedServer({ unscripted: { status: 200, steps: ['{}'] } });
  const twilio = await startFakeTwilio({
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    publicWebhookBase: `http://127.0.0.1:${port}`,
    numbers: [NUMBER, CAMPAIGN_NUMBER],
  });
  const gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port,
    env: {
      DATABASE_URL: server.url,
      PATCHBAY_CALL_LIMIT: '1000',
      PATCHBAY_LOAD_LIMIT: '0',
      PATCHBAY_DELAY_LIMIT_MS: '0',
      PATCHBAY_STT: 'none',
      LOG_LEVEL: 'warn',
    },
  });
  try {
    await client.connect();
    await prepareStatistics(client);
    const apiKey = await gateway.firstKey();
    const api = new ApiClient(gateway.url, apiKey);
    const rig = {
      client,
      api,
      twilio,
      gateway,
      apiKey,
      agent: await setUp(api, twilio, receiver.origin),
    };
    twilio.onOutboundCall((call) => {
      setTimeout(() => call.answer(), RING_MS);
      setTimeout(() => call.hangUp(), RING_MS + TALK_MS);
    });
    const figures = await measure(rig, calls);
    for (const [name, figure] of Object.entries(figures)) print(name, figure);
    if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(figures, null, 1));
  } finally {
    await client.end();
    await gateway.kill();
    await twilio.close();
    await receiver.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A script of one greeting, a menu and a webhook after the call. */
async function setUp(api: ApiClient, twilio: FakeTwilio, receiver: string) {
  const configurationId = await api.createConfiguration('Statements', {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: AUTH_TOKEN,
    api_base_url: twilio.baseUrl,
  });
  const position = { x: 0, y: 0 };
  const agent = await api.createWorkflow('Statements', {
    nodes: [
      {
        id: '1',
        type: 'startCall',
        position,
        data: { name: 'A', prompt: 'Hi', greeting: 'Hello.' },
      },
      { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye' } },
      {
        id: 'w',
        type: 'webhook',
        position,
        data: { name: 'W', enabled: true, http_method: 'POST', endpoint_url: `${receiver}/hook` },
      },
    ],
    edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
  });
  await api.addNumber(configurationId, {
    address: NUMBER,
    inbound_workflow_id: agent.id,
    is_default_caller_id: true,
  });
  return agent;
}

async function measure(rig: Rig, calls: number): Promise<Record<string, Figure>> {
  await inbound(rig, 5); // Whatever is read or made once.
  await outbound(rig, 5);
  await settled(rig);
  const idle = await during(rig, () => pause(IDLE_MS));
  const figures: Record<string, Figure> = {
    'idle, a second': figureOf(idle.reading, IDLE_MS / 1_000, undefined, idle.ms),
  };
  const rest = { reading: idle.reading, ms: idle.ms };
  for (const [name, work] of Object.entries({ inbound, outbound, campaign })) {
    const { reading, ms } = await during(rig, async () => {
      await work(rig, calls);
      await settled(rig);
    });
    figures[name] = figureOf(reading, calls, rest, ms);
  }
  return figures;
}

async function during(rig: Rig, work: () => Promise<unknown>) {
  const before = await readStatistics(rig.client);
  const startMs = performance.now();
  await work();
  const after = await readStatistics(rig.client);
  return { reading: between(before, after), ms: performance.now() - startMs };
}

async function inbound({ twilio }: Rig, calls: number): Promise<void> {
  for (let nth = 0; nth < calls; nth++) {
    const call = await twilio.placeInboundCall({ from: `+1415556${1_000 + nth}`, to: NUMBER });
    setTimeout(() => call.hangUp(), TALK_MS);
    await pause(PACE_MS);
  }
}

async function outbound({ api, agent }: Rig, calls: number): Promise<void> {
  for (let nth = 0; nth < calls; nth++) {
    await api.startCall(agent.uuid, { phone_number: `+1415557${1_000 + nth}` });
    await pause(PACE_MS);
  }
}

async function campaign({ gateway, apiKey, twilio }: Rig, calls: number): Promise<void> {
  const client = new CampaignClient(gateway.url, apiKey);
  const id = await client.setUp({
    providerUrl: twilio.baseUrl,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    callers: [CAMPAIGN_NUMBER],
    phoneNumbers: Array.from({ length: calls }, (_each, nth) => `+1415558${1_000 + nth}`),
    concurrency: null,
    ratePerSecond: 1_000 / PACE_MS,
    maxRetries: 0,
  });
  const until = performance.now() + DONE_MS_MAX;
  while ((await client.progress(id)).state !== 'completed') {
    if (performance.now() > until) throw new Error('the campaign takes too long');
    await pause(1_000);
  }
}

/** Resolves when all runs are completed, and the work after them is done. */
async function settled({ client }: Rig): Promise<void> {
  const until = performance.now() + DONE_MS_MAX;
  for (;;) {
    const { rows } = await client.query(
      `select (select count(*) from runs where state <> 'completed')
         + (select count(*) from afterworks)
         + (select count(*) from deliveries where due_at is not null) as open /* pg_stat_ */`,
    );
    if (Number(rows[0]?.open) === 0) return;
    if (performance.now() > until) throw new Error(`${rows[0]?.open} are left`);
    await pause(200);
  }
}

/** A call's share, less what an idle gateway does in the same time. */
function figureOf(
  reading: Reading,
  calls: number,
  idle: { reading: Reading; ms: number } | undefined,
  ms: number,
): Figure {
  const part = idle === undefined ? 0 : ms / idle.ms;
  const list = [...reading.statements].map(
    ([id, { text, calls: times, planMs, runMs, walBytes }]) => {
      const less = idle?.reading.statements.get(id);
      const of = (value: number, own: number | undefined) => (value - part * (own ?? 0)) / calls;
      return {
        text: text.replaceAll(/\s+/g, ' '),
        per: of(times, less?.calls),
        planMs: of(planMs, less?.planMs),
        runMs: of(runMs, less?.runMs),
        walBytes: of(walBytes, less?.walBytes),
      };
    },
  );
  const tables = [...reading.tables.values()].map(({ table, inserted, updated, hot }) => ({
    table,
    inserted: (inserted - part * (idle?.reading.tables.get(table)?.inserted ?? 0)) / calls,
    updated: (updated - part * (idle?.reading.tables.get(table)?.updated ?? 0)) / calls,
    hot: (hot - part * (idle?.reading.tables.get(table)?.hot ?? 0)) / calls,
  }));
  const sum = (name: 'per' | 'planMs' | 'runMs' | 'walBytes') =>
    list.reduce((total, each) => total + each[name], 0);
  return {
    calls,
    statements: sum('per'),
    planMs: sum('planMs'),
    runMs: sum('runMs'),
    walBytes: sum('walBytes'),
    updated: tables.reduce((total, { updated }) => total + updated, 0),
    hot: tables.reduce((total, { hot }) => total + hot, 0),
    list: list
      .map(({ per, planMs, runMs, text }) => ({ per, ms: planMs + runMs, text }))
      .toSorted((one, other) => other.ms - one.ms),
    tables,
  };
}

function print(name: string, figure: Figure): void {
  const { calls, statements, planMs, runMs, walBytes, updated, hot, list, tables } = figure;
  console.log(
    `\n${name} (${calls}): ${statements.toFixed(1)} statements, ${(planMs + runMs).toFixed(2)} ms` +
      ` (${planMs.toFixed(2)} planning), ${(walBytes / 1_024).toFixed(1)} kB of WAL,` +
      ` ${updated.toFixed(1)} rows updated (${hot.toFixed(1)} HOT)`,
  );
  for (const { per, ms, text } of list) {
    if (!values.all && Math.abs(per) < 0.05 && ms < 0.01) continue;
    console.log(
      `  ${per.toFixed(2).padStart(6)} ${ms.toFixed(3).padStart(8)} ms  ${text.slice(0, 150)}`,
    );
  }
  for (const { table, inserted, updated: changed, hot: light } of tables) {
    if (inserted + changed < 0.05) continue;
    console.log(
      `         ${table}: ${inserted.toFixed(2)} inserted, ${changed.toFixed(2)} updated, ${light.toFixed(2)} HOT`,
    );
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
