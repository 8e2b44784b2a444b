// The lean websocket client over real sockets of this machine, against `ws` and against raw bytes.

import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { MediaClient } from './media-client.ts';

const cleanUps: (() => void)[] = [];
afterEach(() => {
  for (const each of cleanUps.splice(0)) each();
});

interface Seen {
  texts: string[];
  closed: Promise<string>;
  open: Promise<void>;
  client: MediaClient;
}

function connect(port: number, headers: Record<string, string> = {}): Seen {
  const texts: string[] = [];
  let opened: () => void = () => undefined;
  let ended: (reason: string) => void = () => undefined;
  const open = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const closed = new Promise<string>((resolve) => {
    ended = resolve;
  });
  const client = new MediaClient(
    { url: `ws://127.0.0.1:${port}/media/abc?d=e`, headers },
    {
      onOpen: () => opened(),
      onText: (chunk, from, to) => texts.push(chunk.toString('utf8', from, to)),
      onClose: (reason) => ended(reason),
    },
  );
  cleanUps.push(() => client.close());
  return { texts, closed, open, client };
}

async function websocketServer(): Promise<{ server: WebSocketServer; port: number }> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanUps.push(() => server.close());
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

/** Answers every connection with bytes, in pieces. */
async function rawServer(pieces: (socket: Socket) => Promise<void>): Promise<number> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => void pieces(socket));
  });
  cleanUps.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const UPGRADED = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n';

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const header =
    payload.length < 126
      ? Buffer.from([0x81, payload.length])
      : Buffer.from([0x81, 126, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([header, payload]);
}

describe('the media client', () => {
  it('opens with its headers, sends and receives texts of any length, and closes', async () => {
    const { server, port } = await websocketServer();
    const connection = once(server, 'connection');
    const { texts, closed, open, client } = connect(port, { 'X-Twilio-Signature': 'sign=' });
    const [socket, request] = (await connection) as [WebSocket, { url: string; headers: object }];
    expect(request.url).toBe('/media/abc?d=e');
    expect(request.headers).toMatchObject({ 'x-twilio-signature': 'sign=' });
    await open;
    for (const length of [0, 5, 125, 126, 4_000, 65_000]) {
      const text = 'x'.repeat(length);
      client.sendText(text);
      const [data] = (await once(socket, 'message')) as [Buffer];
      expect(data.toString()).toBe(text);
      socket.send(text);
      const before = texts.length;
      while (texts.length === before) await new Promise((resolve) => setImmediate(resolve));
      expect(texts.at(-1)).toBe(text);
    }
    const ended = once(socket, 'close');
    client.close();
    expect((await ended)[0]).toBe(1_000);
    expect(await closed).toBe('closed by us');
  });

  it('answers pings, and reports why the gateway closed', async () => {
    const { server, port } = await websocketServer();
    const connection = once(server, 'connection');
    const { closed } = connect(port);
    const [socket] = (await connection) as [WebSocket];
    socket.ping('are you there');
    const [answer] = (await once(socket, 'pong')) as [Buffer];
    expect(answer.toString()).toBe('are you there');
    socket.close(4_001, 'no more');
    expect(await closed).toBe('closed by the gateway: 4001 no more');
  });

  it('reads messages whose bytes come one by one, the first with the answer to the upgrade', async () => {
    const sent = ['first', 'y'.repeat(300), '', 'last'];
    const bytes = Buffer.concat([Buffer.from(UPGRADED), ...sent.map(textFrame)]);
    const port = await rawServer(async (socket) => {
      socket.setNoDelay(true);
      socket.write(bytes.subarray(0, UPGRADED.length + 3));
      for (const byte of bytes.subarray(UPGRADED.length + 3)) {
        socket.write(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      socket.end(Buffer.from([0x88, 0]));
    });
    const { texts, closed } = connect(port);
    expect(await closed).toBe('closed by the gateway: 1005');
    expect(texts).toEqual(sent);
  });

  it.each([
    ['no upgrade', 'HTTP/1.1 503 Service Unavailable\r\n\r\n', /refused: HTTP\/1.1 503/],
    ['a binary message', `${UPGRADED}\x82\x01a`, /media streams do not have: 82/],
    ['a message in pieces', `${UPGRADED}\x01\x01a`, /media streams do not have: 1$/],
    ['a masked message', `${UPGRADED}\x81\x81abcde`, /masked or too large/],
  ])('ends for %s', async (_what, answer, reason) => {
    const port = await rawServer(async (socket) => void socket.write(answer, 'latin1'));
    const { closed } = connect(port);
    expect(await closed).toMatch(reason);
  });
});
