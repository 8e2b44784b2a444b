// Our websocket beside the package `ws`: its receiver says what a stream of frames means, and both are each other's
// peer over loopback, either way round. Differences that are meant: ws takes lengths in longer forms than the
// shortest; we do not (RFC 6455 §5.2).

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import * as ws from 'ws';
import { systemClock as clock } from '../../../src/std/clock.ts';
import type { MediaSocket, MediaSocketListener } from '../../../src/transport/media-socket.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { connectMedia } from '../../../src/transport/websocket/websocket-client.ts';
import {
  WebsocketFault,
  WebsocketReader,
} from '../../../src/transport/websocket/websocket-frames.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { rounds } from '../../rounds.ts';
import { type FrameParts, wireFrame } from './raw-peer.ts';

const MESSAGE_BYTES_MAX = 150;
/** Behind a stream that may end within a frame: of one that is not whole, ws and we find a fault at other bytes. */
const TAIL = Buffer.alloc(200);

/** What a stream means: messages and control frames in order, then the code of its fault, if it has one. */
function byOurs(chunks: Buffer[], masked: boolean): { seen: string[]; isLength: boolean } {
  const seen: string[] = [];
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const reader = new WebsocketReader({
    masked,
    messageBytesMax: MESSAGE_BYTES_MAX,
    taker: {
      onText: (message) => void seen.push(`text ${hex(Buffer.from(message))}`),
      onAscii: (bytes, from, end) => void seen.push(`text ${hex(bytes.subarray(from, end))}`),
      onBinary: (message) => void seen.push(`binary ${hex(message)}`),
      onPing: (payload) => void seen.push(`ping ${hex(payload)}`),
      onPong: (payload) => void seen.push(`pong ${hex(payload)}`),
      onCloseFrame: (code, reason) => void seen.push(`close ${code} ${reason}`),
    },
  });
  try {
    for (const chunk of chunks) reader.read(Buffer.from(chunk), chunk.length);
  } catch (error) {
    if (!(error instanceof WebsocketFault)) throw error;
    seen.push(`fault ${error.closeCode}`);
    return { seen, isLength: error.facts['what'] === 'length' };
  }
  return { seen, isLength: false };
}

type Receiver = new (options: { isServer: boolean; maxPayload: number }) => Writable;

/** The package exports it; its types do not. */
const WS_RECEIVER = Reflect.get(ws, 'Receiver') as Receiver;

function byWs(chunks: Buffer[], isServer: boolean): string[] {
  const seen: string[] = [];
  const receiver = new WS_RECEIVER({ isServer, maxPayload: MESSAGE_BYTES_MAX });
  receiver.on('message', (data: Buffer, isBinary: boolean) => {
    seen.push(`${isBinary ? 'binary' : 'text'} ${data.toString('hex')}`);
  });
  receiver.on('ping', (data: Buffer) => seen.push(`ping ${data.toString('hex')}`));
  receiver.on('pong', (data: Buffer) => seen.push(`pong ${data.toString('hex')}`));
  receiver.on('conclude', (code: number, reason: Buffer) => seen.push(`close ${code} ${reason}`));
  receiver.on('error', () => undefined); // It comes later than the stream knows of it.
  for (const chunk of chunks) if (receiver.writable) receiver.write(Buffer.from(chunk));
  if (receiver.errored) seen.push(`fault ${statusOf(receiver.errored)}`);
  return seen;
}

/** Kept under a symbol of the package's. */
function statusOf(error: Error): unknown {
  const key = Object.getOwnPropertySymbols(error).find(
    ({ description }) => description === 'status-code',
  );
  return key && Reflect.get(error, key);
}

/** In pieces of the given sizes, over and over. */
function cut(stream: Buffer, sizes: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, nth = 0; at < stream.length; nth++) {
    const size = sizes[nth % sizes.length] ?? stream.length;
    chunks.push(stream.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

const texts = fc.string({ unit: 'binary', maxLength: 60 }).map((text) => Buffer.from(text));
const bytes = fc.uint8Array({ maxLength: 160 });
const reasons = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 20 }).map(Buffer.from) },
  fc.uint8Array({ maxLength: 20 }),
);
const closeCodes = fc.oneof(
  fc.integer({ min: 990, max: 1020 }),
  fc.integer({ min: 0, max: 65_535 }),
);
const closePayloads = fc.oneof(
  fc.constant(Buffer.alloc(0)),
  fc
    .tuple(closeCodes, reasons)
    .map(([code, reason]) => Buffer.concat([Buffer.from([code >> 8, code & 0xff]), reason])),
  fc.uint8Array({ maxLength: 3 }),
);
const opcodes = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(0, 0, 0, 1, 2, 9, 10) },
  fc.integer({ min: 0, max: 15 }),
);
const dataFrames = fc.record<FrameParts>({
  opcode: opcodes,
  payload: fc.oneof(texts, bytes),
  fin: fc.boolean(),
  reserved: fc.oneof({ weight: 30, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 7 })),
});
/** A message in pieces, cut anywhere, with pings between them. */
const messages = fc
  .tuple(fc.constantFrom(1, 2), fc.oneof(texts, bytes), fc.array(fc.nat(60), { maxLength: 4 }))
  .map(([opcode, payload, cuts]) => {
    const ends = [
      ...cuts.filter((at) => at < payload.length).sort((a, b) => a - b),
      payload.length,
    ];
    return ends.flatMap((end, nth): FrameParts[] => [
      {
        opcode: nth === 0 ? opcode : 0,
        fin: nth === ends.length - 1,
        payload: payload.subarray(ends[nth - 1] ?? 0, end),
      },
      ...(nth % 2 === 0 && nth < ends.length - 1 ? [{ opcode: 9, payload: 'between' }] : []),
    ]);
  });
const streams = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: messages },
    { weight: 3, arbitrary: dataFrames.map((frame) => [frame]) },
    { weight: 1, arbitrary: closePayloads.map((payload) => [{ opcode: 8, payload }]) },
  ),
  { maxLength: 8 },
);
const sizes = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 });

describe('a stream of frames means the same to us as to ws', () => {
  it.each([
    ['as a server', true],
    ['as a client', false],
  ])('%s, whole or broken, however it is cut', (_, masked) => {
    const kinds = new Set<string>();
    fc.assert(
      fc.property(streams, sizes, (frames, cuts) => {
        const stream = Buffer.concat(frames.flat().map((frame) => wireFrame(frame, masked)));
        const chunks = cut(stream, cuts);
        const { seen } = byOurs(chunks, masked);
        expect(seen).toEqual(byWs(chunks, masked));
        for (const each of seen)
          kinds.add(each.split(' ', /^(fault|close)/.test(each) ? 2 : 1).join(' '));
      }),
      { numRuns: rounds(500, 10_000) },
    );
    // What the streams were made of: without this an empty generator would pass.
    for (const kind of [
      'text',
      'binary',
      'ping',
      'pong',
      'fault 1002',
      'fault 1007',
      'close 1005',
    ]) {
      expect(kinds).toContain(kind);
    }
  });

  it.each([
    ['as a server', true],
    ['as a client', false],
  ])('%s, with bytes changed at any place', (_, masked) => {
    const changes = fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(streams, changes, sizes, (frames, changed, cuts) => {
        const stream = Buffer.concat(frames.flat().map((frame) => wireFrame(frame, masked)));
        fc.pre(stream.length > 0);
        for (const [at, bits] of changed) {
          const place = at % stream.length;
          stream[place] = (stream[place] as number) ^ bits;
        }
        const chunks = cut(Buffer.concat([stream, TAIL]), cuts);
        const { seen, isLength } = byOurs(chunks, masked);
        fc.pre(!isLength); // ws takes it.
        expect(seen).toEqual(byWs(chunks, masked));
      }),
      { numRuns: rounds(500, 10_000) },
    );
  });
});

const PATH = '/api/v1/telephony/ws/1/2/3/token';
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** Sends each message back, and notes how the socket ended. */
function echo() {
  const ends: [number, string][] = [];
  let own: MediaSocket | undefined;
  const accept = (socket: MediaSocket): MediaSocketListener => {
    own = socket;
    return {
      onText: (message) => socket.sendText(message),
      onBinary: (message) => socket.sendBinary(message),
      onClose: (code, reason) => void ends.push([code, reason]),
    };
  };
  return { accept, ends, close: (code: number, reason: string) => own?.close(code, reason) };
}

async function wsClientOfOurs() {
  const ours = echo();
  const media = createMediaServer({
    clock,
    log: quietLog().log,
    limits: { messagesPerSecondMax: 5_000 },
    authorize: () => Promise.resolve({ accept: ours.accept }),
  });
  const http = createServer().on('upgrade', (request, socket, head) => {
    media.handleUpgrade(request, socket, head);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => http.close());
  const peer = new ws.WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}${PATH}`);
  await new Promise((resolve) => peer.once('open', resolve));
  return { ours, peer };
}

async function wsServerOfOurs() {
  const ours = echo();
  const server = new ws.WebSocketServer({ port: 0, host: '127.0.0.1' });
  cleanups.push(() => server.close());
  const connected = new Promise<ws.WebSocket>((resolve) => server.once('connection', resolve));
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/media`;
  const { signal } = new AbortController();
  await connectMedia({ url, protocol: 'media', clock, log: quietLog().log }, ours.accept, signal);
  return { ours, peer: await connected };
}

describe.each([
  ['our server and a client of ws', wsClientOfOurs],
  ['our client and a server of ws', wsServerOfOurs],
])('%s', (_, open) => {
  async function opened() {
    const { ours, peer } = await open();
    cleanups.push(() => peer.terminate());
    const back: (string | Buffer)[] = [];
    const control: string[] = [];
    peer.on('message', (data: Buffer, isBinary) => back.push(isBinary ? data : data.toString()));
    peer.on('pong', (data) => control.push(`pong ${data}`));
    peer.on('error', (error) => control.push(error.message));
    const closed = new Promise((resolve) => {
      peer.once('close', (code, reason) => resolve([code, reason.toString()]));
    });
    return { ours, peer, back, control, closed };
  }

  it('exchange text and binary messages of every form of length', async () => {
    const { peer, back } = await opened();
    const lengths = [0, 1, 125, 126, 127, 1_000, 65_535, 65_536];
    for (const length of lengths) peer.send('é'.repeat(length / 2) + 'x'.repeat(length % 2));
    for (const length of lengths) peer.send(Buffer.alloc(length, length));
    await expect.poll(() => back.length).toBe(2 * lengths.length);
    expect(back).toEqual([
      ...lengths.map((length) => 'é'.repeat(length / 2) + 'x'.repeat(length % 2)),
      ...lengths.map((length) => Buffer.alloc(length, length)),
    ]);
  });

  it('exchange messages in pieces, cut within characters, with pings between them', async () => {
    const { peer, back, control } = await opened();
    const whole = Buffer.from('Grüße, κόσμε, 𝄞');
    for (let at = 1; at < whole.length; at++) {
      peer.send(whole.subarray(0, at), { fin: false, binary: false });
      peer.ping(`at ${at}`);
      peer.send(whole.subarray(at), { fin: true });
    }
    await expect.poll(() => back.length).toBe(whole.length - 1);
    expect(new Set(back)).toEqual(new Set([whole.toString()]));
    expect(control).toEqual(
      Array.from({ length: whole.length - 1 }, (__, nth) => `pong at ${nth + 1}`),
    );
  });

  it.each([1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 3000, 4999])(
    'agree that the connection ended with %d, whichever of them closes it',
    async (code) => {
      const first = await opened();
      first.peer.close(code, 'their reason');
      expect(await first.closed).toEqual([code, 'their reason']);
      await expect.poll(() => first.ours.ends).toEqual([[code, 'their reason']]);
      const second = await opened();
      second.ours.close(code, 'our reason');
      expect(await second.closed).toEqual([code, 'our reason']);
      await expect.poll(() => second.ours.ends).toEqual([[code, 'our reason']]);
      expect([...first.control, ...second.control]).toEqual([]);
    },
  );
});
