// deploy/cluster/: the compose file against the schema of its specification and against the files beside it. What runs of
// it is tried in cluster-processes.test.ts.

import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { settings } from '../../src/settings.ts';
import {
  CLUSTER,
  CLUSTER_FILLED,
  readCompose,
  readEnvFile,
  readYaml,
  variablesOf,
} from './compose-file.ts';

const FOLDER = 'deploy/cluster';
const composeText = readFileSync(CLUSTER, 'utf8');
const example = readFileSync(`${FOLDER}/.env.example`, 'utf8');
const readme = readFileSync(`${FOLDER}/README.md`, 'utf8');
const haproxy = readFileSync(`${FOLDER}/haproxy.cfg`, 'utf8');
const compose = readCompose(CLUSTER_FILLED, CLUSTER);
const services = Object.entries(compose.services);
const gateways = services.filter(([, { image }]) => image === 'patchbay');
const hostPath = (volume: string): string => join(FOLDER, volume.split(':')[0] ?? '');

const folder = mkdtempSync(join(tmpdir(), 'patchbay-cluster-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the compose file of several gateways', () => {
  it('is one by the schema of the specification', () => {
    const { $schema: _, ...schema } = JSON.parse(
      readFileSync('fixtures/compose/compose-spec.json', 'utf8'),
    );
    const isCompose = new Ajv({ strict: false, allErrors: true }).compile(schema);
    expect(isCompose(readYaml(CLUSTER)), JSON.stringify(isCompose.errors)).toBe(true);
  });

  it('mounts files that exist, and only to read', () => {
    const volumes = services.flatMap(([, each]) => each.volumes);
    const mounts = volumes.filter((each) => /^\.\.?\//.test(each));
    expect(mounts.length).toBeGreaterThan(6);
    expect(mounts.filter((each) => !existsSync(hostPath(each)) || !each.endsWith(':ro'))).toEqual(
      [],
    );
    const named = volumes.filter((each) => !mounts.includes(each));
    expect(named.map((each) => each.split(':')[0]).sort()).toEqual(
      Object.keys(compose.volumes).sort(),
    );
  });

  it('gives both gateways the same settings, but each its name, its address and its data', () => {
    expect(gateways.map(([name]) => name)).toEqual(['gw1', 'gw2']);
    const [one, other] = gateways.map(([name, { environment, volumes }]) => {
      const { PATCHBAY_NODE: node, PATCHBAY_NODE_URL: url, ...shared } = environment;
      expect([node, url, volumes]).toEqual([name, `http://${name}:8000`, [`${name}:/data`]]);
      return shared;
    });
    expect(one).toEqual(other);
    expect(readConfig(gateways[0]?.[1].environment)).toMatchObject({
      databaseUrl: expect.stringContaining('@postgres:5432/patchbay'),
      publicUrl: 'https://gw.example.com',
      devopsSecret: CLUSTER_FILLED.PATCHBAY_DEVOPS_SECRET,
      node: 'gw1',
    });
    const own = Object.keys(one ?? {}).filter((name) => name.startsWith('PATCHBAY_'));
    expect(own.filter((name) => !Object.keys(settings.shape).includes(name))).toEqual([]);
  });

  it('reaches Redis and S3 with the secrets that these have', () => {
    const { redis, s3, gw1 } = compose.services;
    const { REDIS_URL: redisUrl = '', ...of } = gw1?.environment ?? {};
    const { hostname, password, port } = new URL(redisUrl);
    expect([hostname, port]).toEqual(['redis', '6379']);
    expect(redis?.command).toContain(password);
    expect(of).toMatchObject({
      S3_ENDPOINT: 'http://s3:3900',
      S3_BUCKET: s3?.environment['GARAGE_DEFAULT_BUCKET'],
      S3_ACCESS_KEY: s3?.environment['GARAGE_DEFAULT_ACCESS_KEY'],
      S3_SECRET_KEY: s3?.environment['GARAGE_DEFAULT_SECRET_KEY'],
    });
    const garage = readFileSync(`${FOLDER}/garage.toml`, 'utf8');
    expect(garage).toContain(`s3_region = "${of['S3_REGION']}"`);
    expect(garage).toMatch(/api_bind_addr = "\[::\]:3900"/);
    for (const name of ['redis', 's3', 'postgres']) {
      const networks = compose.services[name]?.networks ?? [];
      expect(networks.map((each) => compose.networks[each]?.internal)).toEqual([true]);
    }
  });

  it('names the gateways as HAProxy does', () => {
    const servers = [...haproxy.matchAll(/^ {4}server (\S+) (\S+) check/gm)];
    expect(servers.map(([, name, at]) => [name, at])).toEqual([
      ['gw1', 'gw1:8000'],
      ['gw2', 'gw2:8000'],
    ]);
    // The proxy starts before them: their names are in its hosts file.
    const { networks } = compose;
    expect(networks['edge']?.ipam?.config[0]?.subnet).toBe('172.31.241.0/24');
    for (const [name, address] of [
      ['gw1', '172.31.241.11'],
      ['gw2', '172.31.241.12'],
    ]) {
      expect(compose.services['proxy']?.extra_hosts[name ?? '']).toBe(address);
      expect(compose.services[name ?? '']?.addresses['edge']).toBe(address);
    }
    expect(gateways[0]?.[1].environment['PATCHBAY_TRUSTED_PROXIES']).toBe('172.31.241.0/24');
  });

  it('starts with no variable missing and no secret by default', () => {
    const names = Object.keys(CLUSTER_FILLED);
    const needed = variablesOf(composeText).filter(({ preset }) => preset === undefined);
    expect(new Set(needed.map(({ name }) => name))).toEqual(new Set(names));
    const given = readEnvFile(example);
    expect(Object.keys(given).sort()).toEqual(names.toSorted());
    expect(Object.values(given).filter(Boolean)).toEqual([]);
    for (const name of names) {
      expect(() => readCompose({ ...CLUSTER_FILLED, [name]: '' }, CLUSTER)).toThrow(name);
    }
    const presets = variablesOf(composeText).filter(({ preset }) => preset !== undefined);
    expect(
      presets.filter(({ name, preset }) => !example.includes(`\n#${name}=${preset}\n`)),
    ).toEqual([]);
  });

  it('has for each service a healthcheck, limits, a restart and an exact version', () => {
    for (const [name, service] of services) {
      expect(service.healthcheck.test, name).toBeDefined();
      expect(service.restart, name).toBe('unless-stopped');
      expect(service.cap_drop, name).toEqual(['ALL']);
      expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
      if (service.image !== 'patchbay')
        expect(service.image, name).toMatch(/:v?\d+\.\d+(\.\d+)?(-\w+)?$/);
    }
  });

  it('publishes 80 and 443, Grafana on loopback, and nothing else', () => {
    const opened = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`));
    expect(opened).toEqual(['proxy 80:80', 'proxy 443:443', 'grafana 127.0.0.1:3000:3000']);
  });

  it('stops the gateways before the proxy, each after its calls, and out of HAProxy by then', () => {
    expect(compose.services['proxy']?.depends_on).toEqual({});
    const inter = Number(/inter (\d+)s fall (\d+)/.exec(haproxy)?.[1]);
    const fall = Number(/inter (\d+)s fall (\d+)/.exec(haproxy)?.[2]);
    for (const [, { depends_on: needs, environment, stop_grace_period: grace }] of gateways) {
      expect(Object.keys(needs)).toEqual(['proxy', 'postgres', 'redis', 's3']);
      // A gateway starts without Redis and S3: neither is waited for.
      const waited = Object.entries(needs).filter(([, { condition }]) =>
        condition.includes('healthy'),
      );
      expect(waited.map(([name]) => name)).toEqual(['postgres']);
      const { drainMs, drainGraceMs } = readConfig(environment);
      expect(Number(/^(\d+)s$/.exec(grace)?.[1]) * 1_000).toBeGreaterThanOrEqual(
        drainMs + drainGraceMs + 10_000,
      );
      expect(drainGraceMs).toBeGreaterThan(inter * fall * 1_000);
    }
  });

  it('has room in PostgreSQL for the connections of both gateways', () => {
    const [, most] =
      /max_connections=(\d+)/.exec(String(compose.services['postgres']?.command)) ?? [];
    // Ten for each process: supervisor, API and one worker, and one each for heartbeats.
    expect(Number(most)).toBeGreaterThanOrEqual(gateways.length * 3 * 11 + 10);
  });

  it('scrapes each gateway and HAProxy', () => {
    expect(readYaml(`${FOLDER}/prometheus.yml`)).toMatchObject({
      rule_files: ['alerts.yml'],
      scrape_configs: [
        { job_name: 'patchbay', static_configs: [{ targets: ['gw1:8000', 'gw2:8000'] }] },
        { job_name: 'haproxy', static_configs: [{ targets: ['proxy:8405'] }] },
      ],
    });
    expect(readFileSync(`${FOLDER}/haproxy-figures.cfg`, 'utf8')).toContain('bind :8405');
    expect(compose.secrets['metrics_token']).toEqual({ environment: 'PATCHBAY_METRICS_TOKEN' });
  });
});

describe('the commands of deploy/cluster/README.md', () => {
  it('make an .env with which everything has its secret, each another one', ({ skip }) => {
    if (spawnSync('openssl', ['version']).error) skip('openssl is not installed');
    const commands = /cp \.env\.example[\s\S]*?\n```/.exec(readme)?.[0].replace('```', '') ?? '';
    copyFileSync(`${FOLDER}/.env.example`, join(folder, '.env.example'));
    const made = spawnSync('bash', ['-e', '-c', commands], { cwd: folder, encoding: 'utf8' });
    expect(made.stderr).toBe('');
    const variables = readEnvFile(readFileSync(join(folder, '.env'), 'utf8'));
    expect(Object.keys(variables).sort()).toEqual(Object.keys(CLUSTER_FILLED).sort());
    expect(new Set(Object.values(variables)).size).toBe(Object.keys(CLUSTER_FILLED).length);
    expect(variables['S3_ACCESS_KEY']).toMatch(/^GK[0-9a-f]{32}$/);
    const made1 = readCompose(variables, CLUSTER).services['gw1']?.environment;
    expect(readConfig(made1).publicUrl).toBe('https://gw.example.com');
  });

  it('make a certificate for a try that HAProxy takes with its two files', ({ skip }) => {
    if (spawnSync('haproxy', ['-v']).error) skip('haproxy is not installed');
    if (spawnSync('openssl', ['version']).error) skip('openssl is not installed');
    const commands = /openssl req[\s\S]*?\n```/.exec(readme)?.[0].replace('```', '') ?? '';
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    const made = spawnSync('bash', ['-e', '-c', commands], { cwd: folder, encoding: 'utf8' });
    expect(made.status, made.stderr).toBe(0);
    expect(readdirSync(certificates)).toEqual(['gw.pem']);
    const args = ['haproxy.cfg', 'haproxy-figures.cfg'].flatMap((name) => {
      const file = join(folder, name);
      const text = readFileSync(`${FOLDER}/${name}`, 'utf8')
        .replaceAll('/etc/haproxy/certificates/', `${certificates}/`)
        .replaceAll(/ gw(\d):8000/g, ' 127.0.0.1:1$1000');
      writeFileSync(file, text);
      return ['-f', file];
    });
    const checked = spawnSync('haproxy', ['-c', ...args], { encoding: 'utf8' });
    expect(checked.status, checked.stdout + checked.stderr).toBe(0);
    // Whatever it warns of is looked at: nothing is left out of the files.
    expect(checked.stderr).not.toContain('WARNING');
  });

  it('name services that exist', () => {
    const named = [...readme.matchAll(/docker compose (?:exec|run|up|restart|stop)((?: \S+)*)/g)];
    const words = named.flatMap(([, rest = '']) =>
      rest.split(' ').filter((word) => /^[a-z]\w*$/.test(word)),
    );
    expect(words.length).toBeGreaterThan(5);
    for (const word of words.filter((each) =>
      /^(gw\d|proxy|postgres|redis|s3|grafana)$/.test(each),
    ))
      expect(Object.keys(compose.services)).toContain(word);
  });
});
