// Two gateways on one PostgreSQL server: one is killed, suspended or loses its network, and the other closes its calls;
// or both lose the database, and nobody closes anything.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { machine } from '../demo/machine-pace.ts';
import { OWN_NUMBER } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { freePort } from '../fakes/free-port.ts';
import { SilentLink } from '../fakes/silent-link.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { onDatabase } from './database-gateway.ts';
import { PlacedCalls } from './placed-calls.ts';

const CALLS = 10;
const KILLS = 2;
/** From the death to the closed runs. */
const CLOSED_MS_MAX = 12_000;
/** The processes of the other gateway declare nobody dead in their first seconds. */
const CALM_MS = 16_000;
const CUT_MS = 20_000;
const FAILOVER_MS = 30_000;
const POLL = { timeout: 30_000, interval: 100 };

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.runIf(engines().includes('server'))('one of two gateways', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-death-'));
  let server: TestServer;
  let database: Client;
  let links: Record<'first' | 'second', SilentLink>;
  let first: Gateway;
  let second: Gateway;
  let twilio: FakeTwilio;
  let calls: PlacedCalls;

  async function start(name: 'first' | 'second'): Promise<Gateway> {
    const url = new URL(server.url);
    url.searchParams.delete('host');
    url.hostname = '127.0.0.1';
    url.port = String(links[name].port);
    const options = await onDatabase({
      databaseUrl: url.href,
      folder,
      name,
      ...(name === 'first' && { port: firstPort }),
      env: { PATCHBAY_NODE: name, PATCHBAY_WORKERS: '1' },
    });
    return Gateway.start(options);
  }
  let firstPort = 0;

  beforeAll(async () => {
    machine.watch();
    server = await startServer();
    const path = `${new URL(server.url).searchParams.get('host')}/.s.PGSQL.5432`;
    links = { first: await SilentLink.open(path), second: await SilentLink.open(path) };
    firstPort = await freePort();
    first = await start('first');
    second = await start('second');
    twilio = await startFakeTwilio({
      publicWebhookBase: first.url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    const api = new ApiClient(first.url, await first.firstKey());
    const { receiving } = await setUp(api, twilio.baseUrl);
    const long = { max_call_duration: 1_200, max_user_idle_timeout: 600 };
    await api.configureWorkflow(receiving.id, long);
    database = new Client({ connectionString: server.url });
    await database.connect();
    calls = new PlacedCalls({ twilio, database });
    await pause(CALM_MS);
  }, 240_000);

  afterAll(async () => {
    await Promise.all([killAll(first), killAll(second)]);
    await twilio?.close();
    await database?.end();
    await Promise.all(Object.values(links ?? {}).map((link) => link.close()));
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(() => calls.hangUp());

  /** Waits until the other gateway has closed all of them. */
  async function untilClosed(): Promise<number> {
    const from = performance.now();
    const closed = async () => expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
    await vi.waitFor(closed, { timeout: machine.scaled(2 * CLOSED_MS_MAX), interval: 50 });
    return performance.now() - from;
  }

  /** The events of each run of the calls: how many, the last number, and how many ends. */
  async function logs(): Promise<{ events: number; last: number; ends: number }[]> {
    const { rows } = await database.query(
      `select count(*)::int as events, max(seq) as last,
         count(*) filter (where body ->> 'type' = 'call.ended')::int as ends
       from run_events where run_id > $1 group by run_id`,
      [calls.before],
    );
    return rows;
  }

  async function expectWholeLogs(): Promise<void> {
    const all = await logs();
    expect(all).toHaveLength(CALLS);
    expect(all.filter(({ events, last, ends }) => events !== last || ends !== 1)).toEqual([]);
  }

  it('that is killed has its calls closed within 12 s, and hung up', async () => {
    const closedMs: number[] = [];
    for (let kills = 0; kills < KILLS; kills += 1) {
      await calls.place(CALLS);
      await killAll(first);
      closedMs.push(Math.round(await untilClosed()));
      await expectWholeLogs();
      await expect.poll(() => calls.open, POLL).toEqual([]);
      first = await start('first');
    }
    process.stderr.write(`runs closed after ${closedMs.join(', ')} ms\n`);
    for (const ms of closedMs) expect(ms).toBeLessThanOrEqual(machine.scaled(CLOSED_MS_MAX));
  }, 240_000);

  it('whose packets are dropped for 20 s loses its calls, ends them, and goes on', async () => {
    await calls.place(CALLS);
    links.first.cut();
    await untilClosed();
    await pause(Math.max(0, CUT_MS - CLOSED_MS_MAX));
    links.first.mend();
    const said = () => readFileSync(join(folder, 'first.log'), 'utf8');
    await expect
      .poll(() => said().split('continues under a new epoch').length, POLL)
      .toBeGreaterThan(3);
    await expect.poll(() => calls.open, POLL).toEqual([]);
    const metrics = async () => (await fetch(`${first.url}/metrics`)).text();
    await expect
      .poll(metrics, POLL)
      .toMatch(/patchbay_(events_stored_total\{.*result="fenced"|run_changes_fenced).* [1-9]/);
    await expectWholeLogs();
    expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
    expect(first.hasExited).toBe(false);
    await calls.place(CALLS);
    await pause(CALM_MS); // The other one leaves them alone.
    expect(await calls.runs()).toEqual({ running: CALLS });
  }, 240_000);

  it('that is suspended for 20 s loses its calls, ends them, and goes on', async () => {
    await calls.place(CALLS);
    const pids = processesOf(first);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    await untilClosed();
    await pause(Math.max(0, CUT_MS - CLOSED_MS_MAX));
    for (const pid of pids) process.kill(pid, 'SIGCONT');
    await expect.poll(() => calls.open, POLL).toEqual([]);
    await pause(3_000);
    await expectWholeLogs();
    expect(await calls.runs()).toEqual({ unexpected_error: CALLS });
    await calls.place(CALLS);
  }, 240_000);

  it('closes nothing of the other when both were without the database for 30 s', async () => {
    await calls.place(CALLS);
    links.first.cut();
    links.second.cut();
    await pause(FAILOVER_MS);
    links.second.mend();
    await pause(4_000); // The other one finds its way later.
    links.first.mend();
    await pause(CALM_MS + 4_000);
    expect(await calls.runs()).toEqual({ running: CALLS });
    expect(calls.open).toHaveLength(CALLS);
  }, 240_000);
});

function processesOf(gateway: Gateway): number[] {
  const pid = gateway.pid ?? 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return [pid, ...children.split(' ').filter(Boolean).map(Number)];
}

/** As if its machine had lost its power. */
async function killAll(gateway: Gateway | undefined): Promise<void> {
  if (gateway === undefined || gateway.hasExited) return;
  for (const pid of processesOf(gateway)) process.kill(pid, 'SIGKILL');
  await gateway.exited;
}
