// Sockets that are passed on to another gateway: real connections on loopback.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { SocketSplices } from '../../src/cluster/socket-splice.ts';
import { mediaSpliced } from '../../src/metrics/metrics.ts';
import { systemClock } from '../../src/std/clock.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function listening(server: Server | ReturnType<typeof createTcpServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
}

/** The owner: answers the websocket and echoes. */
async function owner() {
  const requests: IncomingMessage[] = [];
  const opened: WebSocket[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    requests.push(request);
    sockets.handleUpgrade(request, socket, head, (ws) => {
      opened.push(ws);
      ws.on('message', (data, isBinary) => ws.send(data, { binary: isBinary }));
    });
  });
  const port = await listening(server);
  ends.push(async () => {
    for (const ws of opened) ws.terminate();
  });
  return { url: `http://127.0.0.1:${port}`, requests, opened };
}

/** A gateway that passes every upgrade on to `url`. */
async function passing(url: string, options: { splicesMax?: number; clock?: FakeClock } = {}) {
  const clock = options.clock ?? systemClock;
  const splices = new SocketSplices({ label: 'gw2', log: quietLog().log, ...options, clock });
  const results: Promise<boolean>[] = [];
  const server = createServer();
  server.on('upgrade', (request, socket, head) => {
    const passed = splices.pass({ request, socket, head }, url);
    results.push(passed);
    void passed.then((isPassed) => isPassed || socket.end('HTTP/1.1 503 x\r\n\r\n'));
  });
  const port = await listening(server);
  ends.push(async () => splices.close());
  return { splices, port, results };
}

/** A client that speaks by hand: the bytes that it gets. */
async function client(
  port: number,
  text: string,
): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('latin1').on('data', (bytes: string) => {
    heard += bytes;
  });
  socket.on('error', () => undefined);
  socket.write(text, 'latin1');
  ends.push(async () => socket.destroy());
  return { socket, heard: () => heard };
}

const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const ASKED = [
  'GET /api/v1/telephony/ws/1/2/3-w0/gw1.1-x?A=%2f&b HTTP/1.1',
  'hOsT: gw.example.com',
  'X-Twilio-Signature: signed==',
  'X-Forwarded-For: 198.51.100.7',
  'Cookie: a=1',
  'cookie: b=\xe9',
  'Upgrade: websocket',
  'Connection: Upgrade',
  `Sec-WebSocket-Key: ${KEY}`,
  'Sec-WebSocket-Version: 13',
];
/** A masked text frame with `hi`. */
const FRAME = '\x81\x82\x01\x02\x03\x04ik';

describe('an upgrade that is passed on', () => {
  it('reaches the owner as it came, with its client and a mark, and data flow both ways', async () => {
    const { url, requests, opened } = await owner();
    const { port, splices } = await passing(url);
    // The first message comes with the request.
    const { socket, heard } = await client(port, `${ASKED.join('\r\n')}\r\n\r\n${FRAME}`);
    await vi.waitFor(() => expect(heard()).toMatch(/^HTTP\/1.1 101 /));
    await vi.waitFor(() => expect(heard().endsWith('\r\n\r\n\x81\x02hi')).toBe(true));
    expect(heard()).toContain('s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    const [request] = requests;
    expect(request?.url).toBe('/api/v1/telephony/ws/1/2/3-w0/gw1.1-x?A=%2f&b');
    const lines = request?.rawHeaders ?? [];
    const pairs = lines.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${lines[i + 1]}`] : []));
    expect(pairs).toEqual([
      ...ASKED.slice(1),
      'X-Forwarded-For: 127.0.0.1',
      'X-Patchbay-Spliced: gw2',
    ]);
    expect(request?.headers['x-forwarded-for']).toBe('198.51.100.7, 127.0.0.1');
    expect(splices.open).toBe(1);
    expect((await mediaSpliced.get()).values[0]?.value).toBe(1);
    // Half a megabyte, more than the buffers of all sockets on its way.
    opened[0]?.send('x'.repeat(524_288));
    await vi.waitFor(() => expect(heard().length).toBeGreaterThan(524_288));
    socket.destroy();
    await vi.waitFor(() => expect(splices.open).toBe(0));
    await vi.waitFor(() => expect(opened[0]?.readyState).toBe(3));
    expect((await mediaSpliced.get()).values[0]?.value).toBe(0);
  });

  it('ends at both ends when the owner ends it', async () => {
    const { url, opened } = await owner();
    const { port, splices } = await passing(url);
    const { socket, heard } = await client(port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(heard()).toContain('101'));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    opened[0]?.terminate();
    await closed;
    await splices.drain(1_000);
    expect(splices.open).toBe(0);
  });

  it("gets the owner's refusal", async () => {
    const server = createTcpServer((socket) => {
      socket.resume().on('error', () => undefined);
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\nno');
    });
    const { port } = await passing(`http://127.0.0.1:${await listening(server)}`);
    const { heard } = await client(port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(heard()).toMatch(/^HTTP\/1.1 401 Unauthorized[\s\S]*no$/));
  });

  it('is left for an answer if the owner is not reached, or does not accept in time', async () => {
    const refused = await passing(`http://127.0.0.1:${await closedPort()}`);
    const first = await client(refused.port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(first.heard()).toMatch(/^HTTP\/1.1 503/));
    expect(refused.splices.open).toBe(0);
    // Nothing speaks TLS there.
    const silent = createTcpServer((socket) => void socket.resume().on('error', () => undefined));
    const clock = new FakeClock();
    const late = await passing(`https://127.0.0.1:${await listening(silent)}`, { clock });
    const second = await client(late.port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(late.results).toHaveLength(1));
    clock.advance(2_000);
    expect(await late.results[0]).toBe(false);
    await vi.waitFor(() => expect(second.heard()).toMatch(/^HTTP\/1.1 503/));
  });

  it('is one of a limited number', async () => {
    const { url } = await owner();
    const { port, splices } = await passing(url, { splicesMax: 1 });
    const first = await client(port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(first.heard()).toContain('101'));
    const next = await client(port, `${ASKED.join('\r\n')}\r\n\r\n`);
    await vi.waitFor(() => expect(next.heard()).toMatch(/^HTTP\/1.1 503/));
    expect(splices.open).toBe(1);
    // A stop does not wait for it for ever.
    await splices.drain(50);
    expect(splices.open).toBe(1);
    splices.close();
    expect(splices.open).toBe(0);
  });
});

async function closedPort(): Promise<number> {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
