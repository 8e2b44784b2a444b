// deploy/: the compose file against the schema of its specification and against what the repository has, and the files
// that it mounts. What runs of it is tried in compose-gateway.test.ts and proxy.test.ts.

import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { modelConfigurationIn } from '../../src/api/model-configurations/model-configuration-schema.ts';
import { readConfig } from '../../src/config.ts';
import { storableService } from '../../src/model/speech-services/service-rows.ts';
import { settings } from '../../src/settings.ts';
import {
  COMPOSE,
  FILLED,
  readCompose,
  readEnvFile,
  readYaml,
  variablesOf,
} from './compose-file.ts';

const composeText = readFileSync(COMPOSE, 'utf8');
const example = readFileSync('deploy/.env.example', 'utf8');
const compose = readCompose(FILLED);
const services = Object.entries(compose.services);
const { gateway, proxy, prometheus, grafana } = compose.services;

/** What the command `patchbay` reads. */
const OF_THE_COMMAND = ['PATCHBAY_URL', 'PATCHBAY_API_KEY'];
/** Services without a healthcheck, each with the reason. */
const UNCHECKED: Record<string, string> = { 'local-ai-setup': 'runs once and ends' };

const folder = mkdtempSync(join(tmpdir(), 'patchbay-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const hostPath = (volume: string): string => join('deploy', volume.split(':')[0] ?? '');
const mounts = services.flatMap(([, { volumes }]) =>
  volumes.filter((each) => /^\.\.?\//.test(each)),
);

describe('the compose file', () => {
  // It names its meta-schema by an address with https, which Ajv does not know.
  const { $schema: _, ...schema } = JSON.parse(
    readFileSync('fixtures/compose/compose-spec.json', 'utf8'),
  );
  const isCompose = new Ajv({ strict: false, allErrors: true }).compile(schema);

  it('is one by the schema of the specification', () => {
    expect(isCompose(readYaml('deploy/compose.yaml')), JSON.stringify(isCompose.errors)).toBe(true);
    expect(isCompose({ services: { gateway: { image: 'a', memory: '1g' } } })).toBe(false);
  });

  it('mounts files that exist, and only to read', () => {
    expect(mounts.length).toBeGreaterThan(5);
    expect(mounts.filter((each) => !existsSync(hostPath(each)) || !each.endsWith(':ro'))).toEqual(
      [],
    );
    const named = services.flatMap(([, { volumes }]) =>
      volumes.filter((each) => !mounts.includes(each)),
    );
    expect(named.map((each) => each.split(':')[0]).sort()).toEqual(
      Object.keys(compose.volumes).sort(),
    );
  });

  it('sets nothing that the gateway does not know, and all that it needs', () => {
    const names = services.flatMap(([, { environment }]) => Object.keys(environment));
    const written = [...names, ...Object.keys(readEnvFile(example.replace(/^#(?=[A-Z])/gm, '')))];
    const known = [...Object.keys(settings.shape), ...OF_THE_COMMAND];
    const own = written.filter((name) => name.startsWith('PATCHBAY_'));
    expect(own.length).toBeGreaterThan(8);
    expect(own.filter((name) => !known.includes(name))).toEqual([]);
    expect(readConfig(gateway?.environment)).toMatchObject({
      port: 8_000,
      publicUrl: 'https://gw.example.com',
      databaseUrl: `postgresql://patchbay:${FILLED.POSTGRES_PASSWORD}@postgres:5432/patchbay`,
      secretKeys: FILLED.PATCHBAY_SECRET_KEYS,
      bootstrapApiKey: FILLED.PATCHBAY_BOOTSTRAP_API_KEY,
      metricsToken: FILLED.PATCHBAY_METRICS_TOKEN,
      isSignUpOpen: false,
    });
  });

  it('starts with no variable missing and no secret by default', () => {
    const given = readEnvFile(example);
    const needed = variablesOf(composeText).filter(({ preset }) => preset === undefined);
    expect(new Set(needed.map(({ name }) => name))).toEqual(new Set(Object.keys(FILLED)));
    expect(given).toEqual(Object.fromEntries(Object.keys(FILLED).map((name) => [name, ''])));
    for (const name of Object.keys(FILLED)) {
      expect(() => readCompose({ ...FILLED, [name]: '' })).toThrow(`${name} is not set`);
    }
    // Commented in the example, with the same value.
    const presets = variablesOf(composeText).filter(({ preset }) => preset !== undefined);
    expect(
      presets.filter(({ name, preset }) => !example.includes(`\n#${name}=${preset}\n`)),
    ).toEqual([]);
  });

  it('has for each service a healthcheck, limits and a restart', () => {
    for (const [name, service] of services) {
      const isUnchecked = Object.hasOwn(UNCHECKED, name);
      expect(service.healthcheck.test === undefined, name).toBe(isUnchecked);
      expect(service.restart, name).toBe(isUnchecked ? 'no' : 'unless-stopped');
      expect(service.cap_drop, name).toEqual(['ALL']);
      expect(service.mem_limit, name).toMatch(/^\d+[mg]$/);
      expect(service.logging.options, name).toMatchObject({ 'max-size': '20m', 'max-file': '5' });
    }
  });

  it('publishes 80 and 443, Grafana on loopback, and nothing else', () => {
    const opened = services.flatMap(([name, { ports }]) => ports.map((port) => `${name} ${port}`));
    expect(opened).toEqual([
      ...['proxy 80:80', 'proxy 443:443', 'proxy 443:443/udp'],
      'grafana 127.0.0.1:3000:3000',
    ]);
    for (const name of ['postgres', 'prometheus']) {
      const networks = compose.services[name]?.networks ?? [];
      expect(networks.map((each) => compose.networks[each]?.internal)).toEqual([true]);
    }
  });

  it('trusts forwarded addresses from the network of the proxy alone', () => {
    const on = services.filter(([, { networks }]) => networks.includes('edge'));
    expect(on.map(([name]) => name)).toEqual(['proxy', 'gateway']);
    expect(gateway?.environment['PATCHBAY_TRUSTED_PROXIES']).toBe(
      compose.networks['edge']?.ipam?.config[0]?.subnet,
    );
  });

  it('stops the gateway before the proxy, and leaves it time for its calls', () => {
    expect(Object.keys(gateway?.depends_on ?? {})).toEqual(['proxy', 'postgres']);
    expect(proxy?.depends_on).toEqual({});
    const { drainMs, drainGraceMs } = readConfig(gateway?.environment);
    const graceMs = Number(/^(\d+)s$/.exec(gateway?.stop_grace_period ?? '')?.[1]) * 1_000;
    expect(graceMs).toBeGreaterThanOrEqual(drainMs + drainGraceMs + 10_000);
  });

  it('takes exact versions, and the gateway as its Dockerfile builds it', () => {
    const images = services.map(([, { image }]) => image).filter((image) => image !== 'patchbay');
    expect(images.filter((image) => !/:v?\d+\.\d+(\.\d+)?(-\w+)?$/.test(image))).toEqual([]);
    expect([gateway?.build, gateway?.command]).toEqual(['..', []]);
    const dockerfile = readFileSync('Dockerfile', 'utf8');
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(bases.filter((base) => !/@sha256:[0-9a-f]{64}$/.test(base ?? ''))).toEqual([]);
    expect(dockerfile).toContain('CMD ["node", "dist/main.js"]');
  });
});

describe('the commands of deploy/README.md', () => {
  const readme = readFileSync('deploy/README.md', 'utf8');

  it('make an .env with which everything has its secret, each another one', ({ skip }) => {
    if (spawnSync('openssl', ['version']).error) skip('openssl is not installed');
    const commands = /cp \.env\.example[\s\S]*?\ndone\n/.exec(readme)?.[0] ?? '';
    copyFileSync('deploy/.env.example', join(folder, '.env.example'));
    const made = spawnSync('bash', ['-e', '-c', commands], { cwd: folder, encoding: 'utf8' });
    expect(made.stderr).toBe('');
    const variables = readEnvFile(readFileSync(join(folder, '.env'), 'utf8'));
    expect(new Set(Object.values(variables)).size).toBe(Object.keys(FILLED).length);
    expect(readConfig(readCompose(variables).services['gateway']?.environment).publicUrl).toBe(
      'https://gw.example.com',
    );
  });

  it('name services that exist', () => {
    const named = [
      ...readme.matchAll(
        /docker compose(?: --profile local-ai)? (?:exec|run)(?: -\S+(?: \w+=\d)?)* ([\w-]+)/g,
      ),
    ];
    expect(named).toHaveLength(6);
    expect(named.map(([, name]) => name).filter((name) => !compose.services[name ?? ''])).toEqual(
      [],
    );
  });
});

describe('Prometheus and Grafana', () => {
  it('have our rules, dashboards and secret', () => {
    const target = (path: string): string =>
      services.flatMap(([, { volumes }]) => volumes).find((each) => hostPath(each) === path) ?? '';
    expect(prometheus?.volumes).toContain(target('grafana/alerts.yml'));
    expect(target('grafana/alerts.yml')).toContain(':/etc/prometheus/alerts.yml:');
    expect(readYaml('deploy/prometheus/prometheus.yml')).toMatchObject({
      rule_files: ['alerts.yml'],
      scrape_configs: [
        {
          job_name: 'patchbay',
          authorization: { credentials_file: '/run/secrets/metrics_token' },
          static_configs: [{ targets: ['gateway:8000'] }],
        },
      ],
    });
    expect(prometheus?.secrets).toEqual(['metrics_token']);
    expect(compose.secrets['metrics_token']).toEqual({ environment: 'PATCHBAY_METRICS_TOKEN' });
    expect(grafana?.volumes).toContain(target('grafana/dashboards'));
    const { providers } = z
      .object({ providers: z.array(z.object({ options: z.object({ path: z.string() }) })) })
      .parse(readYaml('deploy/grafana/dashboards.yml'));
    expect(target('grafana/dashboards')).toContain(`:${providers[0]?.options.path}:`);
  });

  it('agree on the data source', () => {
    const { datasources } = z
      .object({
        datasources: z.array(
          z.object({ uid: z.string(), type: z.string(), isDefault: z.boolean() }),
        ),
      })
      .parse(readYaml('deploy/grafana/datasources.yml'));
    expect(datasources).toMatchObject([{ uid: 'prometheus', type: 'prometheus', isDefault: true }]);
    for (const name of readdirSync('grafana/dashboards')) {
      const text = readFileSync(`grafana/dashboards/${name}`, 'utf8');
      const uids: unknown[] = [];
      const dashboard = JSON.parse(text, (name, value) => {
        if (name === 'datasource') uids.push(value.uid);
        return value;
      });
      // A variable that lists the data sources of this type, the default one first.
      expect(dashboard.templating.list[0]).toMatchObject({
        name: 'datasource',
        type: 'datasource',
        query: datasources[0]?.type,
      });
      expect(uids.length).toBeGreaterThan(20);
      expect(new Set(uids)).toEqual(new Set(['$datasource']));
    }
  });

  it('have a configuration that Prometheus accepts', ({ skip }) => {
    if (spawnSync('promtool', ['--version']).error)
      skip('promtool is not installed (Debian package prometheus)');
    copyFileSync('grafana/alerts.yml', join(folder, 'alerts.yml'));
    copyFileSync('deploy/prometheus/prometheus.yml', join(folder, 'prometheus.yml'));
    const checked = spawnSync(
      'promtool',
      ['check', 'config', '--syntax-only', join(folder, 'prometheus.yml')],
      { encoding: 'utf8' },
    );
    expect(checked.stdout + checked.stderr).toContain('SUCCESS');
    expect(checked.status).toBe(0);
  });
});

describe('the services of local-ai', () => {
  const written = JSON.parse(readFileSync('deploy/local-ai/services.json', 'utf8'));

  it('are services of the profile, and the gateway stores them', () => {
    const { byok } = modelConfigurationIn.parse(written);
    for (const job of ['stt', 'tts', 'llm'] as const) {
      const section = byok?.pipeline?.[job];
      expect(section && storableService(job, section)).toHaveProperty('service');
      const { hostname, port } = new URL(String(section?.['base_url']));
      const { profiles, networks, healthcheck } = compose.services[hostname] ?? {};
      expect([profiles, networks]).toEqual([['local-ai'], ['speech', 'downloads']]);
      const checked =
        job === 'llm' ? ['CMD', 'ollama', 'list'] : [expect.stringContaining(`/${port} `)];
      expect(healthcheck?.test).toEqual(expect.arrayContaining(checked));
    }
    expect(gateway?.networks).toContain('speech');
  });

  it('have the language and the model that the compose file sets by default', () => {
    const { environment } = compose.services['local-ai-setup'] ?? {};
    const { stt, llm } = written.byok.pipeline;
    expect(environment).toMatchObject({
      LOCAL_AI_LANGUAGE: stt.language,
      LOCAL_AI_MODEL: llm.model,
    });
  });
});
