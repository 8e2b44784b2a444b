// What deploy/cluster runs, as processes on this machine: two gateways with the settings of the compose file, PostgreSQL,
// Redis, HAProxy with both of its files and a certificate, Prometheus with its configuration, and a third gateway through
// PgBouncer. Replaced are hosts, ports and the data folders; Garage is not here, and S3 is left out.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';
import { isInstalled, Program } from '../several-gateways/engines/program.ts';
import { engines, startServer, type TestServer } from '../store/databases.ts';
import { CLUSTER, CLUSTER_FILLED, readCompose } from './compose-file.ts';

const POLL = { timeout: 30_000, interval: 200 };
const FOLDER = 'deploy/cluster';
const SECRET = CLUSTER_FILLED.PATCHBAY_DEVOPS_SECRET;
const PASSWORD = CLUSTER_FILLED.POSTGRES_PASSWORD;
const NEEDED = ['haproxy', 'redis-server', 'openssl'];

const missing = NEEDED.filter((name) => !isInstalled(name));
if (missing.length > 0) process.stderr.write(`Not tried, for want of ${missing.join(', ')}.\n`);
const { services } = readCompose(CLUSTER_FILLED, CLUSTER);

interface Answered {
  code: number | null;
  output: string;
}

/** `patchbay cluster status` of the build, beside the gateways that it asks. */
function clusterStatus(url: string, ...more: string[]): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const args = ['scripts/patchbay.mjs', 'cluster', 'status', '--url', url, ...more];
    const env = { ...process.env, PATCHBAY_DEVOPS_SECRET: SECRET };
    const child = spawn(process.execPath, args, { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data) => {
        output += data;
      });
    }
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}

const isTried = engines().includes('server') && missing.length === 0;

describe.runIf(isTried)('the parts of deploy/cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-cluster-'));
  const programs: Program[] = [];
  const gateways: Gateway[] = [];
  const ports = { gw1: 0, gw2: 0, gw3: 0, redis: 0, https: 0, http: 0, figures: 0, own: 0 };
  const trusting = new Agent({ connect: { rejectUnauthorized: false } });
  let server: TestServer;
  let redis: Program;

  const logFile = (name: string): string => join(folder, `${name}.log`);

  async function startGateway(name: 'gw1' | 'gw2' | 'gw3', databaseUrl: string): Promise<Gateway> {
    const of = { ...services['gw1']?.environment };
    for (const left of Object.keys(of).filter((each) => /^(S3_|PATCHBAY_(DATA|PORT)$)/.test(each)))
      Reflect.deleteProperty(of, left);
    const gateway = await Gateway.start({
      dataFolder: join(folder, name),
      logFile: logFile(name),
      port: ports[name],
      env: {
        ...of,
        DATABASE_URL: databaseUrl,
        REDIS_URL: `redis://:${CLUSTER_FILLED.REDIS_PASSWORD}@127.0.0.1:${ports.redis}`,
        PATCHBAY_NODE: name,
        PATCHBAY_NODE_URL: `http://127.0.0.1:${ports[name]}`,
        PATCHBAY_STT: 'none',
      },
    });
    gateways.push(gateway);
    return gateway;
  }

  async function startRedis(): Promise<Program> {
    const command = (services['redis']?.command ?? []).concat(['--port', String(ports.redis)]);
    const redis = new Program({
      command: [...command, '--dir', folder],
      logFile: logFile('redis'),
    });
    programs.push(redis);
    await redis.listening(ports.redis);
    return redis;
  }

  async function startProxy(): Promise<void> {
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    const made = spawnSync('openssl', [
      ...'req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=gw.example.com'.split(' '),
      ...['-keyout', join(certificates, 'key.pem'), '-out', join(folder, 'certificate.pem')],
    ]);
    expect(made.status).toBe(0);
    const pem = ['certificate.pem', 'certificates/key.pem'].map((name) =>
      readFileSync(join(folder, name), 'utf8'),
    );
    rmSync(join(certificates, 'key.pem'));
    writeFileSync(join(certificates, 'gw.pem'), pem.join(''));
    const files = ['haproxy.cfg', 'haproxy-figures.cfg'].flatMap((name) => {
      const text = readFileSync(`${FOLDER}/${name}`, 'utf8')
        .replace('/etc/haproxy/certificates/', `${certificates}/`)
        .replace('maxconn 20000', 'maxconn 2000') // Fewer open files than a container has.
        .replace('bind :443', `bind 127.0.0.1:${ports.https}`)
        .replace('bind :80', `bind 127.0.0.1:${ports.http}`)
        .replace('bind 127.0.0.1:8404', `bind 127.0.0.1:${ports.own}`)
        .replace('bind :8405', `bind 127.0.0.1:${ports.figures}`)
        .replace(' gw1:8000', ` 127.0.0.1:${ports.gw1}`)
        .replace(' gw2:8000', ` 127.0.0.1:${ports.gw2}`);
      writeFileSync(join(folder, name), text);
      return ['-f', join(folder, name)];
    });
    const proxy = new Program({ command: ['haproxy', '-db', ...files], logFile: logFile('proxy') });
    programs.push(proxy);
    await proxy.listening(ports.https);
  }

  /** A role for gateways behind PgBouncer, set as docs/settings.md says. */
  async function makePooledRole(): Promise<void> {
    const [, settings = ''] =
      /set by `alter role \.\.\. set` what[^:]*: (.*?)\. \|/.exec(
        readFileSync('docs/settings.md', 'utf8'),
      ) ?? [];
    const each = [...settings.matchAll(/`(\w+ = [^`]+)`/g)].map(([, text]) => text);
    expect(each).toHaveLength(5);
    const client = new Client({ connectionString: server.url });
    await client.connect();
    await client.query(`create role patchbay login superuser password '${PASSWORD}'`);
    for (const text of each) await client.query(`alter role patchbay set ${text}`);
    await client.end();
  }

  beforeAll(async () => {
    for (const name of Object.keys(ports) as (keyof typeof ports)[]) ports[name] = await freePort();
    server = await startServer();
    redis = await startRedis();
    await startProxy();
    await startGateway('gw1', server.url);
    await startGateway('gw2', server.url);
  }, 300_000);

  afterAll(async () => {
    await Promise.all(gateways.map((each) => each.kill()));
    await Promise.all(programs.map((each) => each.end('SIGKILL')));
    await trusting.close();
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  const url = (name: 'gw1' | 'gw2'): string => `http://127.0.0.1:${ports[name]}`;
  const overTls = async (path: string) => {
    const answer = await request(`https://127.0.0.1:${ports.https}${path}`, {
      dispatcher: trusting,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };

  it('answer behind HAProxy by TLS alone, without their metrics', async () => {
    await expect.poll(async () => (await overTls('/api/v1/health')).status, POLL).toBe(200);
    expect((await overTls('/metrics')).status).toBe(404);
    const plain = await request(`http://127.0.0.1:${ports.http}/api/v1/health`);
    await plain.body.dump();
    expect(plain.statusCode).toBe(301);
  });

  it('have a status in which nothing is wrong, whichever gateway is asked', async () => {
    for (const name of ['gw1', 'gw2'] as const) {
      await vi.waitFor(async () => {
        const { code, output } = await clusterStatus(url(name), '--gateways', '2');
        expect([code, output]).toEqual([0, expect.stringContaining('Nothing is wrong.')]);
        expect(output).toContain(`as ${name} knows it`);
        for (const each of ['gw1', 'gw2'] as const)
          expect(output).toMatch(new RegExp(`^${each} .* ok +unused .* ${url(each)}$`, 'm'));
      }, POLL);
    }
  }, 90_000);

  it('say that Redis is away, and that it is back', async () => {
    await redis.end('SIGKILL');
    await vi.waitFor(async () => {
      const { code, output } = await clusterStatus(url('gw1'));
      expect([code, output]).toEqual([1, expect.stringContaining('gw2: Redis does not answer')]);
    }, POLL);
    expect((await overTls('/ready')).status).toBe(200);
    redis = await startRedis();
    await vi.waitFor(async () => expect((await clusterStatus(url('gw1'))).code).toBe(0), POLL);
  }, 90_000);

  it('are scraped by Prometheus, and HAProxy is, with our rules', async ({ skip }) => {
    if (!isInstalled('prometheus')) skip('Prometheus is not installed');
    const token = join(folder, 'metrics_token');
    writeFileSync(token, CLUSTER_FILLED.PATCHBAY_METRICS_TOKEN);
    const config = readFileSync(`${FOLDER}/prometheus.yml`, 'utf8')
      .replace('/run/secrets/metrics_token', token)
      .replace('gw1:8000', `127.0.0.1:${ports.gw1}`)
      .replace('gw2:8000', `127.0.0.1:${ports.gw2}`)
      .replace('proxy:8405', `127.0.0.1:${ports.figures}`)
      .replace('scrape_interval: 15s', 'scrape_interval: 1s');
    writeFileSync(join(folder, 'prometheus.yml'), config);
    copyFileSync('grafana/alerts.yml', join(folder, 'alerts.yml'));
    const port = await freePort();
    const command = [
      ...['prometheus', `--config.file=${join(folder, 'prometheus.yml')}`],
      ...[`--storage.tsdb.path=${join(folder, 'tsdb')}`, `--web.listen-address=127.0.0.1:${port}`],
    ];
    const prometheus = new Program({ command, logFile: logFile('prometheus') });
    programs.push(prometheus);
    const ask = async (query: string): Promise<unknown[]> => {
      const path = `query?query=${encodeURIComponent(query)}`;
      const { data } = JSON.parse(
        await (await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)).text(),
      );
      return data.result;
    };
    await vi.waitFor(async () => {
      expect(await ask('up{job="patchbay"} == 1')).toHaveLength(2);
      expect(await ask('haproxy_server_status{state="UP"} == 1')).toHaveLength(2);
      expect(await ask('patchbay_clock_skew_seconds{worker="api"} < 2')).toHaveLength(2);
    }, POLL);
    const rules = await (await fetch(`http://127.0.0.1:${port}/api/v1/rules`)).text();
    expect(rules).toContain('"name":"ClockSkew"');
  }, 60_000);

  it('take a third gateway through PgBouncer with its file', async ({ skip }) => {
    if (!isInstalled('pgbouncer')) skip('PgBouncer is not installed');
    await makePooledRole();
    const port = await freePort();
    const socketFolder = new URL(server.url).searchParams.get('host') ?? '';
    const users = join(folder, 'userlist.txt');
    writeFileSync(users, `"patchbay" "${PASSWORD}"\n`, { mode: 0o644 });
    const ini = readFileSync(`${FOLDER}/pgbouncer.ini`, 'utf8')
      .replace('host=postgres port=5432 dbname=patchbay', `host=${socketFolder} dbname=postgres`)
      .replace('listen_addr = 0.0.0.0', 'listen_addr = 127.0.0.1\nunix_socket_dir =')
      .replace('listen_port = 6432', `listen_port = ${port}`)
      .replace('/etc/pgbouncer/userlist.txt', users);
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, ini);
    spawnSync('chmod', ['755', folder]);
    const command = ['pgbouncer', file];
    const pooler = new Program({ command, logFile: logFile('pgbouncer'), isUnprivileged: true });
    programs.push(pooler);
    await pooler.listening(port);
    const pooled = `postgresql://patchbay:${PASSWORD}@127.0.0.1:${port}/patchbay?pgbouncer=1`;
    await startGateway('gw3', pooled);
    await vi.waitFor(async () => {
      const { code, output } = await clusterStatus(url('gw1'), '--gateways', '3');
      expect([code, output]).toEqual([0, expect.stringMatching(/^gw3 /m)]);
    }, POLL);
    const client = new Client({ connectionString: pooled });
    await client.connect();
    const { rows } = await client.query('show statement_timeout');
    await client.end();
    expect(rows).toEqual([{ statement_timeout: '9s' }]);
    await gateways.pop()?.stop();
  }, 180_000);

  it('show a gateway that dies, while the other one serves', async () => {
    await gateways[0]?.kill();
    await vi.waitFor(async () => {
      const { code, output } = await clusterStatus(url('gw2'), '--gateways', '2');
      expect([code, output]).toEqual([1, expect.stringMatching(/^WRONG: 1 of 2 gateways/m)]);
    }, POLL);
    for (let times = 0; times < 10; times++)
      expect((await overTls('/api/v1/health')).status).toBe(200);
  }, 60_000);
});
