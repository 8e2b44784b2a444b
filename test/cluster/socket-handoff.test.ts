// Sockets cross a real pair of processes in test/e2e/workers; here, what arrives.

import { createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import { acceptHandedOffSocket, handOffSocket } from '../../src/cluster/socket-handoff.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { wires } from './linked-channels.ts';

const PATH = '/api/v1/telephony/ws/1/2/3/';

function three() {
  const made = wires(3, new FakeClock());
  const [, front, second] = made.links as [IpcChannel, IpcChannel, IpcChannel];
  return { ...made, front, second };
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
    server.on('upgrade', (request, socket, head) => {
      expect(handOffSocket(front, 2, { request, socket: socket as Socket, head })).toBe(true);
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
    for (const ws of opened) ws.terminate();
  });

  it('is closed if what was asked cannot be read', () => {
    const { front, second } = three();
    acceptHandedOffSocket(second, () => expect.unreachable());
    const socket = new Socket();
    front.notify(2, 'upgrade', { url: 7 }, socket);
    expect(socket.destroyed).toBe(true);
    front.notify(2, 'upgrade', { url: '/', headers: {}, head: new Uint8Array(0) });
  });
});
