// The proxy that real-PBX faults are played with: what each verdict does with a websocket.

import { afterEach, expect, it } from 'vitest';
import WebSocket, { WebSocketServer } from 'ws';
import { FaultyProxy, type Rule } from './faulty-proxy.ts';

const close: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of close.splice(0).reverse()) await each();
});

/** A server that says `before`, sends audio, and says `after`. */
async function opened(rule: Rule): Promise<WebSocket> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  close.push(() => server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    socket.send('before');
    for (const bytes of [1, 160, 640]) socket.send(Buffer.alloc(bytes));
    socket.send('after');
  });
  const { port } = server.address() as { port: number };
  const proxy = await FaultyProxy.open(port, rule);
  close.push(() => proxy.stop());
  const socket = new WebSocket(`ws://127.0.0.1:${proxy.port}/media/1`);
  socket.on('error', () => undefined);
  close.push(() => socket.terminate());
  return socket;
}

function received(socket: WebSocket): Promise<string[]> {
  return new Promise((resolve) => {
    const all: string[] = [];
    socket.on('message', (data: Buffer, isBinary) => {
      all.push(isBinary ? `${data.length} bytes` : data.toString());
      if (all.at(-1) === 'after') resolve(all);
    });
  });
}

it('passes a connection on as it is', async () => {
  const socket = await opened((head) => ({ pass: head }));
  expect(await received(socket)).toEqual(['before', '1 bytes', '160 bytes', '640 bytes', 'after']);
});

it('loses the audio alone', async () => {
  const socket = await opened((head) => ({ pass: head, losesAudio: true }));
  expect(await received(socket)).toEqual(['before', 'after']);
});

it('answers in place of the server', async () => {
  const socket = await opened(() => ({ answer: 'HTTP/1.1 404 Not Found\r\n\r\n' }));
  const status = await new Promise((resolve) => {
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
  });
  expect(status).toBe(404);
});
