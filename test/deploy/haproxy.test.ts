// deploy/cluster/haproxy.cfg with the HAProxy of this machine: that it is valid, and where it sends what. Whole gateways
// behind it: test/e2e/two-gateways.test.ts.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { makeCertificate } from '../fakes/certificates.ts';
import { freePort } from '../fakes/free-port.ts';
import { mediaSigner } from '../fakes/media-tokens.ts';
import { HAPROXY_FILE, haproxyOnLoopback, hasHaproxy, replaced } from './haproxy-file.ts';

const START_MS_MAX = 15_000;

/** A gateway that answers with what it got, and upgrades. */
async function upstream() {
  const at = { isReady: true, asked: [] as IncomingMessage[], upgraded: [] as string[] };
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer((request, response) => {
    if (request.url === '/ready') {
      response.writeHead(at.isReady ? 200 : 503).end();
      return;
    }
    at.asked.push(request);
    response.end('ok');
  });
  server.on('upgrade', (request, socket, head) => {
    at.upgraded.push(request.url ?? '');
    sockets.handleUpgrade(request, socket, head, (ws) => ws.on('message', (data) => ws.send(data)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(at, { server, port: (server.address() as AddressInfo).port });
}

describe.runIf(hasHaproxy())('the configuration of HAProxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-haproxy-'));
  let one: Awaited<ReturnType<typeof upstream>>;
  let two: Awaited<ReturnType<typeof upstream>>;
  let haproxy: ChildProcess;
  let url = '';
  let figures = '';

  beforeAll(async () => {
    [one, two] = [await upstream(), await upstream()];
    const ports = { public: await freePort(), figures: await freePort() };
    url = `http://127.0.0.1:${ports.public}`;
    figures = `http://127.0.0.1:${ports.figures}`;
    const file = join(folder, 'routing.cfg');
    writeFileSync(file, haproxyOnLoopback({ ...ports, gateways: [one.port, two.port] }));
    haproxy = spawn('haproxy', ['-f', file], { stdio: 'ignore' });
    await vi.waitFor(() => fetch(url), { timeout: START_MS_MAX, interval: 100 });
  }, 2 * START_MS_MAX);

  afterAll(async () => {
    const ended = new Promise((resolve) => haproxy.once('exit', resolve));
    haproxy.kill('SIGKILL');
    await ended;
    for (const { server } of [one, two]) await closed(server);
    rmSync(folder, { recursive: true });
  });

  it('is valid as it stands, with certificates in their folder', () => {
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    const { cert, key } = makeCertificate({ names: ['gw.example.com'] });
    writeFileSync(join(certificates, 'gw.example.com.pem'), `${cert}\n${key}`);
    const file = join(folder, 'whole.cfg');
    const whole = replaced(readFileSync(HAPROXY_FILE, 'utf8'), [
      ['/etc/haproxy/certificates/', `${certificates}/`],
      // Names of this machine's own; those of the file are found where it runs.
      ['gw1:8000', '127.0.0.1:8000'],
      ['gw2:8000', '127.0.0.1:8001'],
    ]);
    writeFileSync(file, whole);
    const checked = spawnSync('haproxy', ['-c', '-f', file], { encoding: 'utf8' });
    expect(checked.stderr).not.toMatch(/ALERT|WARNING/);
    expect(checked.status).toBe(0);
  });

  it('sends media to the gateway that the token names, which data then reach', async () => {
    for (const label of ['gw1', 'gw2', 'gw2', 'gw1', 'gw1']) {
      const path = mediaPath(label);
      expect(await echo(path)).toBe('hello');
      expect((label === 'gw1' ? one : two).upgraded.at(-1)).toBe(path);
    }
    // What names no gateway of the file goes to any.
    const before = one.upgraded.length + two.upgraded.length;
    for (const path of [mediaPath('gw9'), '/api/v1/telephony/pbx/app', `${mediaPath('gw1')}/`]) {
      expect(await echo(path)).toBe('hello');
    }
    expect(one.upgraded.length + two.upgraded.length).toBe(before + 3);
  });

  it('keeps path and query byte by byte, and names the client', async () => {
    const asked = '/api/v1/telephony/inbound/run?b=%2f+%7E&a=1;c=%41';
    await fetch(`${url}${asked}`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    const [request] = [...one.asked, ...two.asked].slice(-1);
    const got = [...one.asked, ...two.asked].find((each) => each.url === asked) ?? request;
    expect(got?.url).toBe(asked);
    expect(got?.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  it('keeps the metrics of gateways inside, and has its own', async () => {
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    expect(await (await fetch(`${figures}/metrics`)).text()).toContain('haproxy_backend_status');
    expect((await fetch(`${figures}/stats`)).status).toBe(200);
  });

  it('sends media to another gateway within seconds when theirs is not ready', async () => {
    two.isReady = false;
    const path = mediaPath('gw2');
    await vi.waitFor(
      async () => {
        await echo(path);
        expect(one.upgraded).toContain(path);
      },
      { timeout: 10_000, interval: 200 },
    );
    two.isReady = true;
  }, 20_000);

  function echo(path: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`);
      socket.once('open', () => socket.send('hello'));
      socket.once('message', (data) => {
        socket.terminate();
        resolve(String(data));
      });
      socket.once('error', reject);
    });
  }
});

let nth = 0;
function mediaPath(label: string): string {
  nth += 1;
  const id = String(nth);
  const token = mediaSigner.sign(
    { id, workflowId: '1', organizationId: '2' },
    { label, worker: 1, untilMs: 1 },
    Buffer.alloc(16, nth),
  );
  return `/api/v1/telephony/ws/1/2/${id}/${token}`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
