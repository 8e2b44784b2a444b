// Offers of protocols in HTTP requests: websockets are taken, others are ignored and the request is answered.

import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { onWebsocketUpgrade } from '../../src/app/upgrades.ts';

const OFFER =
  'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n';

let server: Server;
let asked: string[];
let upgraded: string[];

beforeEach(async () => {
  asked = [];
  upgraded = [];
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      asked.push(`${method} ${url} ${headers['x-own']} ${headers.upgrade} ${body}`);
      response.end('answered');
    });
  });
  onWebsocketUpgrade(server, (request, socket) => {
    upgraded.push(`${request.url}`);
    socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
});

afterEach(() => new Promise((done) => server.close(done)));

/** What is answered to `parts`, one after the other. */
async function answers(...parts: string[]): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1'); // Of a TCP server.
  socket.setNoDelay(true);
  for (const part of parts) {
    await new Promise((done) => socket.write(part, done));
    await new Promise((done) => setTimeout(done, 20)); // Two packets, mostly; one is answered alike.
  }
  return text(socket);
}

it('an offer of HTTP/2 is ignored, and the request answered', async () => {
  const said = await answers(
    `GET /runs HTTP/1.1\r\nHost: a\r\nX-Own: 1\r\n${OFFER}\r\n`,
    'GET /next HTTP/1.1\r\nHost: a\r\nX-Own: 2\r\nConnection: close\r\n\r\n',
  );
  expect(said.match(/answered/g)).toHaveLength(2);
  expect(asked).toEqual(['GET /runs 1 undefined ', 'GET /next 2 undefined ']);
});

it.each([
  ['in one packet', (head: string, body: string) => [head + body]],
  ['behind its head', (head: string, body: string) => [head, body]],
  ['cut in two', (head: string, body: string) => [head + body.slice(0, 5), body.slice(5)]],
])('a request with an offer keeps its body %s', async (_how, cut) => {
  const body = '{"phone_number":"+14155550100"}';
  const head = `POST /start HTTP/1.1\r\nHost: a\r\nX-Own: 1\r\nContent-Length: ${body.length}\r\n${OFFER.replace('Upgrade,', 'close, Upgrade,')}\r\n`;
  expect(await answers(...cut(head, body))).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*answered$/);
  expect(asked).toEqual([`POST /start 1 undefined ${body}`]);
});

it.each(['websocket', 'WebSocket', 'h2c, websocket'])('an upgrade to %s is taken', async (name) => {
  const said = await answers(
    `GET /media HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${name}\r\n\r\n`,
  );
  expect(said).toMatch(/^HTTP\/1\.1 404 /);
  expect([upgraded, asked]).toEqual([['/media'], []]);
});
