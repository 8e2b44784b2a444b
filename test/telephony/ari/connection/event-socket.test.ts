// The event socket against a server on loopback that behaves as badly as it likes.

import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemRandom } from '../../../../src/std/random.ts';
import type { ConnectionFault } from '../../../../src/telephony/ari/connection/connection-fault.ts';
import { EventSocket } from '../../../../src/telephony/ari/connection/event-socket.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { freePort } from '../../../fakes/free-port.ts';

let server: WebSocketServer;
let clock: FakeClock;
let socket: EventSocket | undefined;
let peers: { ws: WebSocket; request: IncomingMessage }[];
let faults: ConnectionFault[];
let messages: string[];
let opened: number;
let port: number;

beforeEach(async () => {
  clock = new FakeClock();
  peers = [];
  faults = [];
  messages = [];
  opened = 0;
  await listen(await freePort());
});

afterEach(() => {
  socket?.close();
  for (const { ws } of peers) ws.terminate();
  server.close();
});

async function listen(at: number): Promise<void> {
  server = new WebSocketServer({ port: at, host: '127.0.0.1', autoPong: false });
  server.on('connection', (ws, request) => {
    peers.push({ ws, request });
    ws.on('error', () => undefined);
  });
  await once(server, 'listening');
  port = at;
}

function connect(): EventSocket {
  socket = new EventSocket({
    account: accountOf({
      ari_endpoint: `http://127.0.0.1:${port}/`,
      app_name: 'gw',
      app_password: 'geheim',
      stasis_app_name: 'patchbay_1',
    }),
    clock,
    random: systemRandom,
    listener: {
      onOpen: () => {
        opened += 1;
      },
      onMessage: (text) => messages.push(text),
      onDown: (fault) => faults.push(fault),
    },
  });
  return socket;
}

const until = (condition: () => boolean) =>
  vi.waitUntil(condition, { timeout: 5_000, interval: 5 });

/** Lets time run in steps that sockets can follow, who have `restMs` of real time for each; how long it took until
 *  `condition` held. */
async function runUntil(
  condition: () => boolean,
  { stepMs, mostMs, restMs = 4 }: { stepMs: number; mostMs: number; restMs?: number },
): Promise<number> {
  for (let passedMs = 0; passedMs <= mostMs; passedMs += stepMs) {
    if (condition()) return passedMs;
    clock.advance(stepMs);
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
  throw new Error('it did not happen in time');
}

describe("Asterisk's event socket", () => {
  it('names the application in the address, and user and password in a header alone', async () => {
    connect();
    await until(() => opened === 1);
    const { url, headers } = peers[0]?.request ?? {};
    expect(url).toBe('/ari/events?app=patchbay_1');
    expect(headers?.authorization).toBe(`Basic ${Buffer.from('gw:geheim').toString('base64')}`);
    peers[0]?.ws.send('{"type":"X"}');
    await until(() => messages.length === 1);
    expect(messages).toEqual(['{"type":"X"}']);
  });

  it('comes back after a loss within half a second, if the link was good before', async () => {
    connect();
    for (let times = 1; times <= 4; times++) {
      await until(() => opened === times);
      clock.stall(31_000);
      peers.at(-1)?.ws.terminate();
      await until(() => faults.length === times);
      expect(
        await runUntil(() => opened === times + 1, { stepMs: 50, mostMs: 1_000, restMs: 20 }),
      ).toBeLessThan(800);
    }
    expect(faults.every(({ code }) => code === 'PBX_UNREACHABLE')).toBe(true);
  }, 20_000);

  it('never gives up, and waits longer and longer, 15 s at most', async () => {
    server.close();
    connect();
    await until(() => faults.length === 1);
    const pauses: number[] = [];
    for (let times = 1; times <= 12; times++) {
      pauses.push(await runUntil(() => faults.length > times, { stepMs: 250, mostMs: 20_000 }));
    }
    expect(Math.max(...pauses)).toBeLessThanOrEqual(16_000);
    expect(Math.min(...pauses.slice(6))).toBeGreaterThanOrEqual(7_000);
    await listen(port);
    await runUntil(() => opened === 1, { stepMs: 250, mostMs: 20_000 });
  }, 20_000);

  it('finds out that the other side is not there any more', async () => {
    connect();
    await until(() => opened === 1);
    clock.advance(10_000);
    await until(() => peers.length === 1);
    clock.advance(8_000);
    await until(() => faults.length === 1);
    expect(faults[0]?.message).toContain('pings are not answered');
  });

  it('does not fight over the application: the next try is minutes away', async () => {
    connect();
    await until(() => opened === 1);
    const taken = { code: 'PBX_APP_TAKEN', message: '', isPermanent: true } as const;
    socket?.reopen(taken);
    expect(faults).toEqual([taken]);
    const waitedMs = await runUntil(() => opened === 2, { stepMs: 2_000, mostMs: 310_000 });
    expect(waitedMs).toBeGreaterThanOrEqual(150_000);
  });

  it('is silent once it is closed, also while it opens', async () => {
    connect().close();
    expect(clock.timers).toBe(0);
    connect();
    await until(() => opened === 1);
    socket?.close();
    await until(() => peers.at(-1)?.ws.readyState === 3);
    clock.advance(60_000);
    expect([opened, faults]).toEqual([1, []]);
    expect(clock.timers).toBe(0);
  });
});
