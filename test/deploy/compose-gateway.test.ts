// What deploy/compose.yaml runs of ours, as processes on this machine: the gateway with the settings of the file on a
// real PostgreSQL server, its healthcheck, Prometheus with the credentials of its file, and the set-up of local-ai
// against simulated services. Replaced are hosts and ports (by loopback) and the data folder.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { startScriptedServer } from '../fakes/scripted-server.ts';
import { startFakeWyoming } from '../fakes/services/fake-wyoming.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { FILLED, readCompose } from './compose-file.ts';

const POLL = { timeout: 30_000, interval: 200 };
const PROGRAM_MS_MAX = 60_000;
const STOP_MS_MAX = 60_000;
const SERVICES = '/api/v1/organizations/model-configurations/v2';
const KEY = { 'X-API-Key': FILLED.PATCHBAY_BOOTSTRAP_API_KEY };

const { services, secrets } = readCompose(FILLED);

interface Ended {
  code: number | null;
  output: string;
}

/** Runs a program beside the test, whose fakes it asks. */
function run(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    let output = '';
    const options = { env: { ...process.env, ...env }, timeout: PROGRAM_MS_MAX };
    const child = spawn(program, args, options);
    child.once('error', reject);
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.once('close', (code) => resolve({ code, output }));
  });
}

function healthcheckOf(name: string): string[] {
  const [kind, ...command] = services[name]?.healthcheck.test ?? [];
  expect(kind).toBe('CMD');
  return command;
}

describe.runIf(engines().includes('server'))('the gateway of the compose file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-compose-'));
  const logFile = join(folder, 'gateway.log');
  let server: TestServer;
  let gateway: Gateway;
  let port = 0;

  beforeAll(async () => {
    server = await startServer();
    port = await freePort();
    const env = { ...services['gateway']?.environment, DATABASE_URL: server.url };
    for (const replaced of ['PATCHBAY_DATA', 'PATCHBAY_PORT'])
      Reflect.deleteProperty(env, replaced);
    gateway = await Gateway.start({ dataFolder: join(folder, 'data'), logFile, port, env });
  }, 180_000);

  afterAll(async () => {
    await gateway?.kill();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is healthy by its healthcheck, and takes the key of .env', async () => {
    const command = healthcheckOf('gateway');
    expect((await run(command, { PATCHBAY_PORT: String(port) })).code).toBe(0);
    expect((await run(command, { PATCHBAY_PORT: String(await freePort()) })).code).toBe(1);
    const asked = await fetch(gateway.url + SERVICES, { headers: KEY });
    expect(await asked.json()).toMatchObject({ configuration: null, source: 'empty' });
  });

  it('takes the address of a client from the proxy alone', async () => {
    const statuses = new Set<number>();
    // Loopback is no proxy of the compose file: one client, whatever address it writes.
    for (let times = 0; times < 110; times++) {
      const headers = { 'X-API-Key': `wrong-${times}`, 'X-Forwarded-For': `203.0.113.${times}` };
      statuses.add((await fetch(gateway.url + SERVICES, { headers })).status);
    }
    expect([...statuses]).toEqual([401, 429]);
  });

  it('serves its metrics with the token alone', async () => {
    expect((await fetch(`${gateway.url}/metrics`)).status).toBe(401);
    const token = FILLED[secrets['metrics_token']?.environment as keyof typeof FILLED];
    const headers = { authorization: `Bearer ${token}` };
    const shown = await fetch(`${gateway.url}/metrics`, { headers });
    expect(await shown.text()).toContain('patchbay_build_info{');
  });

  it('is scraped by Prometheus as its file says, with our alert rules', async ({ skip }) => {
    if (spawnSync('prometheus', ['--version']).error)
      skip('Prometheus is not installed (Debian package prometheus)');
    const token = join(folder, 'metrics_token');
    writeFileSync(token, FILLED.PATCHBAY_METRICS_TOKEN);
    const config = readFileSync('deploy/prometheus/prometheus.yml', 'utf8')
      .replace('/run/secrets/metrics_token', token)
      .replace('gateway:8000', `127.0.0.1:${port}`)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s');
    const file = join(folder, 'prometheus.yml');
    writeFileSync(file, config);
    copyFileSync('grafana/alerts.yml', join(folder, 'alerts.yml'));
    const address = `127.0.0.1:${await freePort()}`;
    const flags = [`--config.file=${file}`, `--storage.tsdb.path=${join(folder, 'prometheus')}`];
    const prometheus = spawn('prometheus', [...flags, `--web.listen-address=${address}`], {
      stdio: 'ignore',
    });
    const ended = new Promise((resolve) => prometheus.once('exit', resolve));
    const ask = async (path: string) => (await fetch(`http://${address}/api/v1/${path}`)).text();
    try {
      await vi.waitFor(async () => {
        const { data } = JSON.parse(await ask('query?query=patchbay_build_info'));
        expect(data.result[0]?.metric).toMatchObject({ job: 'patchbay', node: process.version });
      }, POLL);
      expect(await ask('rules')).toContain('"name":"GatewayDown"');
    } finally {
      prometheus.kill('SIGKILL');
      await ended;
    }
  }, 60_000);

  describe('with local-ai', () => {
    const startWyoming = () =>
      startFakeWyoming((peer, { type }) => {
        if (type === 'describe') peer.send('info', { asr: [], tts: [] });
      });
    /** What Ollama answers while it pulls a model. */
    const progress = [
      ...['pulling manifest', 'pulling 183715c43589', 'pulling 183715c43589', 'success'],
    ].map((status, completed) => `${JSON.stringify({ status, completed })}\n`);
    let whisper: Awaited<ReturnType<typeof startWyoming>>;
    let piper: Awaited<ReturnType<typeof startWyoming>>;
    let ollama: Awaited<ReturnType<typeof startScriptedServer>>;
    let written = '';

    beforeAll(async () => {
      [whisper, piper] = await Promise.all([startWyoming(), startWyoming()]);
      ollama = await startScriptedServer({ unscripted: { status: 404, steps: [] } });
      written = readFileSync('deploy/local-ai/services.json', 'utf8')
        .replace('tcp://whisper:10300', whisper.url)
        .replace('tcp://piper:10200', piper.url)
        .replace('http://ollama:11434', ollama.origin);
      writeFileSync(join(folder, 'services.json'), written);
    });

    afterAll(async () => {
      await Promise.all([whisper.close(), piper.close(), ollama.close()]);
    });

    /** The command of the compose file; Ollama answers with `lines` to what it is asked to pull. */
    function setUp(lines: string[], env: Record<string, string> = {}): Promise<Ended> {
      ollama.otherwise(({ path }) =>
        path === '/api/pull' ? { steps: lines } : { status: 404, steps: [] },
      );
      const { command = [], environment } = services['local-ai-setup'] ?? {};
      const local = command.map((each) =>
        each
          .replace('/local-ai/setup.mjs', 'deploy/local-ai/setup.mjs')
          .replace('/local-ai/services.json', join(folder, 'services.json')),
      );
      return run(local, { ...environment, PATCHBAY_URL: gateway.url, ...env });
    }

    it.each(['whisper', 'piper'])(
      'has a healthcheck that succeeds while %s answers',
      async (name) => {
        const isPiper = name === 'piper';
        const { port: to } = new URL(isPiper ? piper.url : whisper.url);
        const at = (there: string) =>
          healthcheckOf(name).map((each) =>
            each.replace(isPiper ? '/10200' : '/10300', `/${there}`),
          );
        expect((await run(at(to))).code).toBe(0);
        expect((await run(at('1'))).code).not.toBe(0);
      },
    );

    it('pulls the model and stores the services by one command', async () => {
      const { code, output } = await setUp(progress);
      expect([code, output]).toEqual([0, expect.stringContaining('The services are stored')]);
      // What `patchbay services check` says behind it.
      for (const line of [/^llm ollama: /m, /^tts wyoming: /m, /^stt wyoming: /m]) {
        expect(output).toMatch(line);
      }
      expect(ollama.requests.filter(({ path }) => path === '/api/pull')).toMatchObject([
        { method: 'POST', body: { model: 'qwen2.5:1.5b' } },
      ]);
      const stored = await fetch(gateway.url + SERVICES, { headers: KEY });
      expect(await stored.json()).toMatchObject({
        source: 'organization_v2',
        configuration: JSON.parse(written),
      });
    }, 60_000);

    it('keeps services that are stored, unless REPLACE is set', async () => {
      const other = { LOCAL_AI_MODEL: 'other:4b', LOCAL_AI_LANGUAGE: 'de' };
      const kept = await setUp(progress, other);
      expect([kept.code, kept.output]).toEqual([0, expect.stringContaining('they stay')]);
      const replaced = await setUp(progress, { ...other, REPLACE: '1' });
      expect([replaced.code, replaced.output]).toEqual([0, expect.stringContaining('are stored')]);
      const stored = await fetch(gateway.url + SERVICES, { headers: KEY });
      expect(await stored.json()).toMatchObject({
        effective_configuration: { llm: { model: 'other:4b' }, stt: { language: 'de' } },
      });
    }, 60_000);

    it('fails with a reason', async () => {
      const unknown = await setUp(['{"error":"pull model manifest: file does not exist"}\n']);
      expect([unknown.code, unknown.output]).toEqual([
        1,
        expect.stringContaining('cannot pull qwen2.5:1.5b: pull model manifest'),
      ]);
      const cut = await setUp(progress.slice(0, 2));
      expect([cut.code, cut.output]).toEqual([1, expect.stringContaining('did not pull')]);
      const refused = await setUp(progress, { PATCHBAY_API_KEY: 'x'.repeat(40) });
      expect(refused.code).toBe(1);
      const away = await setUp(progress, { PATCHBAY_URL: `http://127.0.0.1:${await freePort()}` });
      expect([away.code, away.output]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    }, 60_000);
  });

  it('prints no secret, and ends with 0', async () => {
    expect(await gateway.stop(STOP_MS_MAX)).toBe(0);
    const log = readFileSync(logFile, 'utf8');
    const { DOMAIN: _public, ...hidden } = FILLED;
    expect(log).toContain('"level"');
    expect(Object.values(hidden).filter((value) => log.includes(value))).toEqual([]);
  }, 90_000);
});
