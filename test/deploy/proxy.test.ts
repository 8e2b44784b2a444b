// deploy/Caddyfile with a Caddy of this machine, unencrypted on loopback: what reaches the gateway, and what does not.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { freePort } from '../fakes/free-port.ts';
import { FILLED, readCompose } from './compose-file.ts';

const START_MS_MAX = 15_000;
/** Longer than between two frames of any call that goes on. */
const SILENCE_MS = 3_000;

const version = /^v?(\d+)\.(\d+)/.exec(
  spawnSync('caddy', ['version'], { encoding: 'utf8' }).stdout,
);
if (version === null)
  process.stderr.write('No proxy test: caddy is not installed (Debian package caddy).\n');
const isOld = version !== null && Number(version[1]) === 2 && Number(version[2]) < 7;

describe.runIf(version !== null)('the proxy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-proxy-'));
  const sockets = new WebSocketServer({ noServer: true });
  const asked: { path: string | undefined; headers: IncomingHttpHeaders }[] = [];
  const upgraded: Duplex[] = [];
  let upstream: Server;
  let caddy: ChildProcess;
  let caddyEnv: NodeJS.ProcessEnv;
  let url = '';
  let admin = '';

  beforeAll(async () => {
    upstream = createServer(({ url: path, headers }, response) => {
      asked.push({ path, headers });
      response.end('from the gateway');
    });
    upstream.on('upgrade', (request, socket, head) => {
      upgraded.push(socket);
      sockets.handleUpgrade(request, socket, head, (accepted) => {
        accepted.on('message', (data) => accepted.send(data));
      });
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    url = `http://127.0.0.1:${await freePort()}`;
    const written = readFileSync('deploy/Caddyfile', 'utf8').replace(
      'gateway:8000',
      `127.0.0.1:${port}`,
    );
    const config = isOld ? written.replace(/^\s*stream_close_delay .*\n/m, '') : written;
    admin = `127.0.0.1:${await freePort()}`;
    writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin ${admin}\n}\n${config}`);
    const own = { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, DOMAIN: url };
    caddyEnv = { ...process.env, ...own };
    caddy = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile')], {
      env: caddyEnv,
      stdio: 'ignore',
    });
    await vi.waitFor(() => fetch(url), { timeout: START_MS_MAX, interval: 100 });
  }, 2 * START_MS_MAX);

  afterAll(async () => {
    const ended = new Promise((resolve) => caddy.once('exit', resolve));
    caddy.kill('SIGKILL');
    await ended;
    await stopUpstream();
    rmSync(folder, { recursive: true });
  });

  async function stopUpstream(): Promise<void> {
    for (const socket of upgraded) socket.destroy();
    upstream.closeAllConnections();
    await new Promise((resolve) => upstream.close(resolve));
  }

  it('answers the healthcheck of the compose file', async () => {
    const [, program, ...args] = readCompose(FILLED).services['proxy']?.healthcheck.test ?? [];
    expect([program, args.at(-1)]).toEqual(['wget', 'http://127.0.0.1:2019/config/']);
    const { status } = await fetch(`http://${admin}/config/`);
    expect(status).toBe(200);
  });

  it('forwards the address of the client, not what the client has sent as such', async () => {
    asked.length = 0;
    await fetch(`${url}/api/v1/health`, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    const [request] = asked;
    const forwarded = request?.headers['x-forwarded-for'];
    expect(forwarded).toBe('127.0.0.1');
    expect(request?.headers.host).toBe(new URL(url).host);
  });

  it.each(['/metrics', '//metrics', '/%6detrics', '/metrics?a', '/x/../metrics'])(
    'does not forward %s',
    async (path) => {
      asked.length = 0;
      const { status } = await fetch(url + path);
      expect([status, asked.filter((each) => each.path === '/metrics')]).toEqual([404, []]);
    },
  );

  /** An open media websocket, and what it has received. */
  async function talk(): Promise<{ socket: WebSocket; said: string[] }> {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/telephony/ws/1/2/3/token`);
    const said: string[] = [];
    socket.on('message', (data) => said.push(String(data)));
    await new Promise((resolve) => socket.once('open', resolve));
    socket.send('one');
    await expect.poll(() => said).toEqual(['one']);
    return { socket, said };
  }

  it('forwards a media websocket, also after a silence', async () => {
    const { socket, said } = await talk();
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
    socket.send('two');
    await expect.poll(() => said).toEqual(['one', 'two']);
    socket.close();
  });

  it('keeps a media websocket when it reloads its configuration', async ({ skip }) => {
    if (isOld) skip('Caddy before 2.7 cuts websockets then');
    const { socket, said } = await talk();
    const file = join(folder, 'Caddyfile');
    writeFileSync(file, readFileSync(file, 'utf8').replace('10s', '9s'));
    const args = ['reload', '--config', file, '--address', admin];
    const reloaded = spawnSync('caddy', args, { env: caddyEnv, encoding: 'utf8' });
    expect(reloaded.status, reloaded.stderr).toBe(0);
    await new Promise((resolve) => setTimeout(resolve, SILENCE_MS));
    socket.send('two');
    await expect.poll(() => said).toEqual(['one', 'two']);
    socket.close();
  });

  it('holds a request while the gateway restarts', async () => {
    const { port } = upstream.address() as AddressInfo;
    await stopUpstream();
    const answer = fetch(`${url}/ready`).then(({ status }) => status);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await new Promise<void>((resolve) => upstream.listen(port, '127.0.0.1', resolve));
    expect(await answer).toBe(200);
  });
});
