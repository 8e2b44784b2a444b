// `patchbay cluster status`: what it says is wrong, and its exit codes. The gateway is a server on loopback.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runCli } from '../../src/cli/cli.ts';
import type { ClusterStatus, GatewayStatus } from '../../src/model/gateway-condition.ts';

const SECRET = 'a-secret-of-the-operators';
let server: Server;
let url: string;
let status: unknown;
let asked: { path: string | undefined; secret: unknown }[];

beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    asked.push({ path: request.url, secret: request.headers['x-patchbay-devops-secret'] });
    const isOpen = request.headers['x-patchbay-devops-secret'] === SECRET;
    response.writeHead(isOpen ? 200 : 403, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isOpen ? status : { detail: 'The devops secret is wrong' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function run(args: string[] = [], env: Record<string, string> = {}) {
  const shown = { out: '', error: '' };
  const code = await runCli(['cluster', 'status', ...args], {
    env: { PATCHBAY_URL: url, PATCHBAY_DEVOPS_SECRET: SECRET, ...env },
    out: (text) => {
      shown.out += text;
    },
    error: (text) => {
      shown.error += text;
    },
  });
  return { code, ...shown };
}

const CONDITION: NonNullable<GatewayStatus['condition']> = {
  version: '0.3.0',
  not_ready: [],
  workers: 2,
  workers_wanted: 2,
  clock_skew_seconds: 0.012,
  redis: 'ok',
  s3: 'ok',
  spool_bytes: 1_200_000,
  spool_oldest_seconds: 0,
};

function gateway(
  name: string,
  more: Partial<GatewayStatus> = {},
  condition: Partial<typeof CONDITION> = {},
): GatewayStatus {
  return {
    name,
    url: `http://${name}:8000`,
    since: '2026-11-28T10:00:00.000Z',
    heartbeat_seconds: 0.8,
    calls: 4,
    processes: [
      {
        name: 'api',
        since: '2026-11-28T10:00:00.000Z',
        heartbeat_seconds: more.heartbeat_seconds ?? 0.8,
        calls: 4,
      },
    ],
    condition: { ...CONDITION, ...condition },
    condition_seconds: 2,
    ...more,
  };
}

function cluster(more: Partial<ClusterStatus> = {}): ClusterStatus {
  return {
    now: '2026-11-28T13:05:00.000Z',
    asked: 'gw1',
    gateways: [gateway('gw1'), gateway('gw2')],
    pbx_leases: [
      {
        configuration_id: '7',
        name: 'Office',
        organization_id: '1',
        node: 'gw2#1',
        seconds_left: 4.2,
        inactive_reason: null,
      },
    ],
    calls: 8,
    calls_without_owner: 0,
    ...more,
  };
}

describe('patchbay cluster status', () => {
  it('shows every gateway and PBX, and ends with 0 while nothing is wrong', async () => {
    status = cluster();
    const { code, out, error } = await run(['--gateways', '2']);
    expect([code, error]).toEqual([0, '']);
    expect(asked).toEqual([{ path: '/api/v1/health/cluster', secret: SECRET }]);
    expect(out).toContain('2026-11-28T13:05:00.000Z, as gw1 knows it. Open calls: 8.');
    const row =
      /^gw2 +0\.3\.0 +3 h 5 min +0\.8 s ago +2 of 2 +4 +\+0\.01 s +ok +ok +1\.2 MB +http:\/\/gw2:8000$/m;
    expect(out).toMatch(row);
    expect(out).toMatch(/^7 +Office +gw2#1 +4\.2 s left$/m);
    expect(out).toMatch(/Nothing is wrong\.\n$/);
  });

  it.each<[string, Partial<ClusterStatus>, RegExp]>([
    [
      'a gateway that is silent',
      { gateways: [gateway('gw1'), gateway('gw2', { heartbeat_seconds: 9 })] },
      /gw2: no heartbeat for 9 s \(api\)/,
    ],
    [
      'a gateway that says nothing of itself',
      { gateways: [gateway('gw1', { condition: null, condition_seconds: null })] },
      /gw1: its API process says nothing/,
    ],
    [
      'a gateway whose last words are old',
      { gateways: [gateway('gw1', { condition_seconds: 40 })] },
      /gw1: its API process says nothing/,
    ],
    [
      'a gateway that takes no calls',
      { gateways: [gateway('gw1', {}, { not_ready: ['overloaded'] })] },
      /gw1: takes no new calls \(overloaded\)/,
    ],
    [
      'a worker that is missing',
      { gateways: [gateway('gw1', {}, { workers: 1 })] },
      /gw1: 1 of 2 call workers serve/,
    ],
    [
      'Redis that is away',
      { gateways: [gateway('gw1', {}, { redis: 'away' })] },
      /gw1: Redis does not answer/,
    ],
    [
      'S3 that is away',
      { gateways: [gateway('gw1', {}, { s3: 'away' })] },
      /gw1: the S3 store does not answer/,
    ],
    [
      'a spool that is old',
      { gateways: [gateway('gw1', {}, { spool_oldest_seconds: 720 })] },
      /gw1: a file waits for S3 for 12 minutes/,
    ],
    [
      'a clock that is wrong',
      { gateways: [gateway('gw1', {}, { clock_skew_seconds: -3.04 })] },
      /gw1: its clock is 3\.0 s ahead of the database's/,
    ],
    [
      'two versions',
      { gateways: [gateway('gw1'), gateway('gw2', {}, { version: '0.2.0' })] },
      /the gateways run 0\.2\.0 and 0\.3\.0/,
    ],
    ['calls that nobody has', { calls_without_owner: 3 }, /3 open calls belong to processes/],
    [
      'a PBX that nobody connects to',
      { pbx_leases: cluster().pbx_leases.map((each) => ({ ...each, seconds_left: -6 })) },
      /no gateway connects to the PBX of configuration 7 \(Office\)/,
    ],
    [
      'a PBX that is out of reach',
      {
        pbx_leases: cluster().pbx_leases.map((each) => ({ ...each, inactive_reason: 'no route' })),
      },
      /configuration 7 \(Office\) is out of reach: no route/,
    ],
  ])('says what to do about %s, and ends with 1', async (_what, more, text) => {
    status = cluster(more);
    const { code, out } = await run();
    const lines = out.split('\n').filter((line) => /^(WRONG| {2}DO): \S/.test(line));
    expect([code, lines.length]).toEqual([1, 2]);
    expect(lines[0]).toMatch(text);
    expect(out).not.toContain('Nothing is wrong');
  });

  it('says that a gateway is missing where it is told how many there should be', async () => {
    status = cluster({ gateways: [gateway('gw1')] });
    expect((await run()).code).toBe(0);
    const { code, out } = await run(['--gateways', '2']);
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/^WRONG: 1 of 2 gateways are there \(gw1\)/m),
    ]);
  });

  it.each(['starting', 'draining'])('expects no worker of a gateway that is %s', async (reason) => {
    status = cluster({ gateways: [gateway('gw1', {}, { not_ready: [reason], workers: 0 })] });
    const { out } = await run();
    expect(out.match(/^WRONG/gm)).toHaveLength(1);
  });

  it('prints all of it as JSON, with what is wrong', async () => {
    status = cluster({ calls_without_owner: 1 });
    const { code, out } = await run(['--json']);
    const printed: unknown = JSON.parse(out);
    expect(printed).toMatchObject({ ...cluster(), calls_without_owner: 1 });
    expect(printed).toMatchObject({ problems: [{ gateway: null, text: expect.any(String) }] });
    expect(code).toBe(1);
  });

  it('ends with 1 if the gateway refuses or is away, with 2 for a wrong command', async () => {
    status = cluster();
    const refused = await run(['--secret', 'wrong']);
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('devops secret') });
    expect((await run(['--url', 'http://127.0.0.1:1'])).code).toBe(1);
    expect((await run([], { PATCHBAY_DEVOPS_SECRET: '' })).code).toBe(2);
    for (const count of ['0', 'x', '1.5', '1001']) {
      expect((await run(['--gateways', count])).code).toBe(2);
    }
  });
});
