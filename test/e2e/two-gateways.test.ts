// Two gateways on one PostgreSQL server behind HAProxy with the file of deploy/cluster. As it stands, every call's media
// reach the gateway that answered it. Without its rule, or with one that sends all media to the other gateway, every call
// talks all the same.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { OWN_NUMBER } from '../demo/scenario.ts';
import { type Agents, setUp } from '../demo/two-calls.ts';
import { haproxyOnLoopback, hasHaproxy, replaced } from '../deploy/haproxy-file.ts';
import { freePort } from '../fakes/free-port.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { LoadClient } from '../load/caller/load-client.ts';
import { loadOptionsOf } from '../load/figures/measure.ts';
import { useGateway } from '../load/load-target.ts';
import { HOSTED } from '../load/wires/wire.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';

const CALLS = 20;
/** Of each provider. */
const PROVIDER_CALLS = 3;
/** On a busy machine. */
const TALK_MS_MAX = 60_000;
const API_KEY = `dg_${'k'.repeat(43)}`;
const POLL = { timeout: TALK_MS_MAX, interval: 200 };

const RULE = /^ {4}use-server .*$/m;
const CROSSED = [
  '    use-server gw2 if { path_reg /gw1\\.[^/]+$ }',
  '    use-server gw1 if { path_reg /gw2\\.[^/]+$ }',
].join('\n');

describe.runIf(engines().includes('server') && hasHaproxy())('two gateways', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-two-'));
  let server: TestServer;
  let gateways: Gateway[] = [];
  let haproxy: ChildProcess | undefined;
  let written = '';
  let twilio: FakeTwilio;
  let api: ApiClient;
  let agents: Agents;

  beforeAll(async () => {
    server = await startServer();
    // The agents' clips are files.
    mkdirSync(join(folder, 'data-0', 'files'), { recursive: true });
    mkdirSync(join(folder, 'data-1'));
    symlinkSync(join(folder, 'data-0', 'files'), join(folder, 'data-1', 'files'));
    const ports = {
      public: await freePort(),
      figures: await freePort(),
      gateways: [await freePort(), await freePort()] as const,
    };
    const url = `http://127.0.0.1:${ports.public}`;
    written = haproxyOnLoopback(ports);
    const start = (nth: 0 | 1) =>
      Gateway.start({
        dataFolder: join(folder, `data-${nth}`),
        logFile: join(folder, `gateway-${nth}.log`),
        port: ports.gateways[nth],
        env: {
          DATABASE_URL: server.url,
          PATCHBAY_NODE: `gw${nth + 1}`,
          PATCHBAY_NODE_URL: `http://127.0.0.1:${ports.gateways[nth]}`,
          PATCHBAY_PUBLIC_URL: url,
          PATCHBAY_SECRET_KEYS: Buffer.alloc(32, 5).toString('hex'),
          PATCHBAY_BOOTSTRAP_API_KEY: API_KEY,
          PATCHBAY_CALL_LIMIT: '100',
          PATCHBAY_LOAD_LIMIT: '0',
          PATCHBAY_DELAY_LIMIT_MS: '0',
          PATCHBAY_DRAIN_SECONDS: '2',
          PATCHBAY_WORKERS: '1',
          PATCHBAY_STT: 'none',
          OPENAI_BASE_URL: '',
          OPENAI_API_KEY: '',
        },
      });
    // One after the other: both would wait for the first one's migrations.
    gateways = [await start(0)];
    gateways.push(await start(1));
    await route((text) => text);
    twilio = await startFakeTwilio({
      publicWebhookBase: url,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    twilio.onOutboundCall((call) => void call.answer());
    await vi.waitFor(async () => expect((await fetch(`${url}/ready`)).status).toBe(200), POLL);
    api = new ApiClient(url, API_KEY);
    agents = await setUp(api, twilio.baseUrl);
  }, 240_000);

  afterAll(async () => {
    await stopHaproxy();
    await twilio?.close();
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function stopHaproxy(): Promise<void> {
    if (haproxy === undefined) return;
    const ended = new Promise((resolve) => haproxy?.once('exit', resolve));
    haproxy.kill('SIGKILL');
    await ended;
  }

  /** Starts HAProxy with a changed file. */
  async function route(change: (text: string) => string): Promise<void> {
    await stopHaproxy();
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, change(written));
    haproxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
    await vi.waitFor(
      async () => expect((await fetch(`${publicUrl()}/ready`)).status).toBe(200),
      POLL,
    );
    // Both servers are in use after their second good check.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
  }

  function publicUrl(): string {
    return `http://${/bind (127\.0\.0\.1:\d+)/.exec(written)?.[1]}`;
  }

  /** Sum of a metric over both gateways. */
  async function sum(name: string): Promise<number> {
    const texts = await Promise.all(
      gateways.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
    );
    const lines = texts.flatMap((text) => [
      ...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm')),
    ]);
    return lines.reduce((all, [, value]) => all + Number(value), 0);
  }

  function hasHeardSpeech(call: FakeCall): boolean {
    for (let ms = 0; ms < call.mediaMs; ms += 100) if (call.isHearingSpeechAt(ms)) return true;
    return false;
  }

  /** Places calls in both directions and hangs them up once all have heard the agent. */
  async function talk() {
    const before = twilio.calls.length;
    const [adopted, ended] = await Promise.all([
      sum('patchbay_media_adopted_total'),
      sum('patchbay_calls_ended_total'),
    ]);
    for (let nth = 0; nth < CALLS; nth += 1) {
      const from = `+1415555${String(1_000 + nth)}`;
      await twilio.placeInboundCall({ from, to: OWN_NUMBER });
      await api.startCall(agents.calling.uuid, { phone_number: from, initial_context: {} });
    }
    const calls = (): FakeCall[] => twilio.calls.slice(before);
    await vi.waitFor(() => expect(calls().filter(hasHeardSpeech)).toHaveLength(2 * CALLS), POLL);
    expect(calls().filter(({ status }) => status !== 'in-progress')).toEqual([]);
    const talking = {
      sockets: await Promise.all(
        gateways.map(async ({ url }) => {
          const text = await (await fetch(`${url}/metrics`)).text();
          return Number(/^patchbay_calls_active\{.*\} (\d+)$/m.exec(text)?.[1] ?? 0);
        }),
      ),
      adopted: (await sum('patchbay_media_adopted_total')) - adopted,
    };
    for (const call of calls()) call.hangUp();
    await vi.waitFor(
      async () => expect((await sum('patchbay_calls_ended_total')) - ended).toBe(2 * CALLS),
      POLL,
    );
    return talking;
  }

  it('have each call where it was answered, with the file as it stands', async () => {
    const { sockets, adopted } = await talk();
    expect(adopted).toBe(0);
    expect(sockets[0]).toBeGreaterThan(0);
    expect(sockets[1]).toBeGreaterThan(0);
    expect((sockets[0] ?? 0) + (sockets[1] ?? 0)).toBe(2 * CALLS);
    expect(await sum('patchbay_media_spliced')).toBe(0);
  }, 180_000);

  it('lose no call in round robin without the rule', async () => {
    await route((text) =>
      replaced(text, [
        [RULE, ''],
        ['balance leastconn', 'balance roundrobin'],
      ]),
    );
    const { adopted } = await talk();
    expect(adopted).toBeGreaterThan(CALLS / 2);
  }, 180_000);

  it('lose no call when all media go to the other one', async () => {
    await route((text) => replaced(text, [[RULE, CROSSED]]));
    const { adopted } = await talk();
    expect(adopted).toBe(2 * CALLS);
    // No gateway has an event of the other one's call in its way: the runs are complete.
    const ids = await api.runIds(agents.receiving.id);
    expect(ids.length).toBeGreaterThanOrEqual(CALLS);
    const log = readFileSync(join(folder, 'gateway-0.log'), 'utf8');
    expect(log).toContain('waiting call adopted');
    expect(log).not.toContain('"level":50');
  }, 180_000);

  // Commands and documents, signed and unsigned upgrades, text and binary media.
  it.each(HOSTED)(
    'lose no call of %s when all media go to the other one',
    async (provider) => {
      const before = await sum('patchbay_media_adopted_total');
      const target = await useGateway({
        url: publicUrl(),
        apiKey: API_KEY,
        pid: undefined,
        provider,
        scenario: 'talk',
        providerHost: '127.0.0.1',
      });
      const client = new LoadClient();
      try {
        const options = loadOptionsOf(target, {
          scenario: 'talk',
          calls: PROVIDER_CALLS,
          callsPerSecond: 20,
          interruptionsPerSecond: 1,
          leadMs: 80,
          cores: undefined,
          hostilePerSecond: 0,
        });
        await client.ask({ order: 'place', options });
        await vi.waitFor(async () => {
          const { markedFrames = 0 } = await client.ask({ order: 'measure' });
          expect(markedFrames).toBeGreaterThan(PROVIDER_CALLS * 50);
        }, POLL);
        const { summary } = await client.ask({ order: 'finish' });
        expect(summary).toMatchObject({
          calls: PROVIDER_CALLS,
          refused: 0,
          dropped: 0,
          failures: [],
        });
        expect((await sum('patchbay_media_adopted_total')) - before).toBe(PROVIDER_CALLS);
      } finally {
        client.stop();
        await target.stop();
      }
    },
    120_000,
  );
});
