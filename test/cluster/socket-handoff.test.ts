// Sockets cross a real pair of processes in test/e2e/workers; here, what arrives.

import { createServer, request as httpRequest, IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { acceptHandedOffSocket, handOffSocket } from '../../src/cluster/socket-handoff.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';

const PATH = '/api/v1/telephony/ws/1/2/3/';

function three() {
  const clock = new FakeClock();
  const made = wires(3, clock);
  const [, front, second] = made.links as [IpcChannel, IpcChannel, IpcChannel];
  return { ...made, clock, front, second };
}

describe('a media socket that was handed over', () => {
  let server: Server;
  let port: number;
  beforeEach(async () => {
    server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it('is upgraded as if it had come here', async () => {
    const { front, second } = three();
    const acceptor = new WebSocketServer({ noServer: true });
    const opened: WebSocket[] = [];
    acceptHandedOffSocket(second, (request, socket, head) => {
      expect(request.url).toBe(`${PATH}w2-abc`);
      expect(request.headers['x-twilio-signature']).toBe('signed');
      acceptor.handleUpgrade(request, socket, head, (ws) => opened.push(ws));
    });
    const handedOff: Promise<boolean>[] = [];
    server.on('upgrade', (request, socket, head) => {
      handedOff.push(handOffSocket(front, 2, { request, socket: atWorker(socket), head }));
    });
    const status = await new Promise((resolve, reject) => {
      const headers = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        'sec-websocket-version': '13',
        'x-twilio-signature': 'signed',
      };
      const client = httpRequest({ port, host: '127.0.0.1', path: `${PATH}w2-abc`, headers });
      client.on('upgrade', (response, socket) => {
        socket.destroy();
        resolve([response.statusCode, response.headers['sec-websocket-accept']]);
      });
      client.on('error', reject);
      client.end();
    });
    expect(status).toEqual([101, 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=']);
    expect(opened).toHaveLength(1);
    expect(await Promise.all(handedOff)).toEqual([true]);
    for (const ws of opened) ws.terminate();
  });

  it('is closed if the request cannot be read, and the other process is informed', async () => {
    const { front, second } = three();
    acceptHandedOffSocket(second, () => expect.unreachable());
    const socket = new Socket();
    const unreadable = front.request(2, 'upgrade', { url: 7 }, 1_000, socket);
    await expect(unreadable).rejects.toMatchObject({ code: 'WORKER_FAILED' });
    expect(socket.destroyed).toBe(true);
    const none = { url: '/', headers: {}, head: new Uint8Array(0) };
    await expect(front.request(2, 'upgrade', none, 1_000)).rejects.toMatchObject({
      code: 'WORKER_FAILED',
    });
  });

  it('stays open for an answer if the worker dies before it has taken it, or does not read', async () => {
    const { front, second: silent, clock, cut } = three();
    const [dying, slow, gone] = [new Socket(), new Socket(), new Socket()];
    const request = Object.assign(new IncomingMessage(new Socket()), { url: PATH });
    const handOff = (socket: Socket) =>
      handOffSocket(front, 2, { request, socket, head: Buffer.alloc(0) });
    silent.onRequest('upgrade', () => new Promise(() => undefined));
    const first = handOff(dying);
    front.peerLost(2);
    expect(await first).toBe(false);
    const second = handOff(slow);
    clock.advance(5_000);
    expect(await second).toBe(false);
    cut(2);
    expect(await handOff(gone)).toBe(false);
    expect([dying, slow, gone].map(({ destroyed }) => destroyed)).toEqual([false, false, false]);
  });
});

/** A socket that crosses no processes here: what the sender does with its own must not end the worker's. */
function atWorker(socket: Duplex): Socket {
  const { destroy } = socket;
  socket.destroy = () => Object.assign(socket, { destroy });
  return socket as Socket; // Nothing else is upgraded here.
}
