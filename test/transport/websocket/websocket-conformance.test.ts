// RFC 6455 as our server and our client keep it, against a peer that sends any bytes. Source: RFC 6455 §5 to §8.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock as clock } from '../../../src/std/clock.ts';
import type { MediaSocket, MediaSocketListener } from '../../../src/transport/media-socket.ts';
import { createMediaServer } from '../../../src/transport/websocket/media-server.ts';
import { connectMedia } from '../../../src/transport/websocket/websocket-client.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type FrameParts, type RawPeer, rawClient, rawServer, wireFrame } from './raw-peer.ts';

const PATH = '/api/v1/telephony/ws/1/2/3/token';
const TEXT = 1;
const BINARY = 2;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A raw peer on one end, and what our end was given. */
interface Pair {
  peer: RawPeer;
  seen: string[];
  socket: MediaSocket;
}

function collector() {
  const seen: string[] = [];
  let opened: (socket: MediaSocket) => void = () => undefined;
  const socket = new Promise<MediaSocket>((resolve) => {
    opened = resolve;
  });
  const accept = (own: MediaSocket): MediaSocketListener => {
    opened(own);
    return {
      onText: (message) => void seen.push(`text ${message}`),
      onBinary: (message) => void seen.push(`binary ${Buffer.from(message).toString('hex')}`),
      onClose: (code, reason) => void seen.push(`close ${code} ${reason}`),
    };
  };
  return { seen, socket, accept };
}

async function ourServer(): Promise<Pair> {
  const { seen, socket, accept } = collector();
  const media = createMediaServer({
    clock,
    log: quietLog().log,
    authorize: () => Promise.resolve({ accept }),
  });
  const http = createServer().on('upgrade', (request, own, head) => {
    media.handleUpgrade(request, own, head);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => http.close());
  const peer = await rawClient((http.address() as AddressInfo).port, PATH);
  cleanups.push(() => peer.destroy());
  return { peer, seen, socket: await socket };
}

async function ourClient(): Promise<Pair> {
  const { seen, socket, accept } = collector();
  const server = await rawServer();
  cleanups.push(server.close);
  const url = `ws://127.0.0.1:${server.port}/media`;
  const { signal } = new AbortController();
  await connectMedia({ url, protocol: 'media', clock, log: quietLog().log }, accept, signal);
  const peer = await server.peer;
  cleanups.push(() => peer.destroy());
  return { peer, seen, socket: await socket };
}

const text = (payload: string | Uint8Array, more: Partial<FrameParts> = {}): FrameParts => ({
  opcode: TEXT,
  payload,
  ...more,
});
const closeWith = (code: number, reason: Uint8Array | string = ''): FrameParts => ({
  opcode: CLOSE,
  payload: Buffer.concat([Buffer.from([code >> 8, code & 0xff]), Buffer.from(reason)]),
});

/** [what the peer does, its frames, the close code that it is answered with] */
const violations: [string, FrameParts[], number][] = [
  ...[1, 2, 4, 7].map((reserved): [string, FrameParts[], number] => [
    `sets the reserved bits ${reserved}`,
    [text('a', { reserved })],
    1002,
  ]),
  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].map((opcode): [string, FrameParts[], number] => [
    `sends the reserved opcode ${opcode}`,
    [{ opcode, payload: 'a' }],
    1002,
  ]),
  ...[CLOSE, PING, PONG].flatMap((opcode): [string, FrameParts[], number][] => [
    [`cuts a control frame ${opcode} in pieces`, [{ opcode, fin: false }], 1002],
    [`sends 126 bytes in a control frame ${opcode}`, [{ opcode, payload: 'a'.repeat(126) }], 1002],
    [`sends 126 as the length of a control frame ${opcode}`, [{ opcode, lengthBytes: 2 }], 1002],
  ]),
  ['goes on with a message that has not begun', [{ opcode: 0, payload: 'a' }], 1002],
  [
    'goes on with a message that is over',
    [text('a', { fin: false }), { opcode: 0 }, { opcode: 0 }],
    1002,
  ],
  ['begins a message within a message', [text('a', { fin: false }), text('b')], 1002],
  [
    'begins a binary message within a text',
    [text('a', { fin: false }), { opcode: BINARY, fin: false }],
    1002,
  ],
  ['writes a length of 125 in two bytes', [text('a'.repeat(125), { lengthBytes: 2 })], 1002],
  ['writes a length of 0 in two bytes', [text('', { lengthBytes: 2 })], 1002],
  ['writes a length of 125 in eight bytes', [text('a'.repeat(125), { lengthBytes: 8 })], 1002],
  [
    'writes a length of 65,535 in eight bytes',
    [text('a'.repeat(65_535), { lengthBytes: 8 })],
    1002,
  ],
  ['announces a message above the limit', [text('', { lengthBytes: 8, length: 65_537n })], 1009],
  ['announces 2^63 bytes', [text('', { lengthBytes: 8, length: 1n << 63n })], 1009],
  [
    'announces a piece that makes the message too large',
    [
      text('a'.repeat(60_000), { fin: false }),
      { opcode: 0, payload: '', lengthBytes: 2, length: 5_537n },
    ],
    1009,
  ],
  [
    'cuts a message into more than 128 pieces',
    [text('', { fin: false }), ...Array.from({ length: 128 }, () => ({ opcode: 0, fin: false }))],
    1009,
  ],
  ['sends a byte that is never UTF-8', [text(Uint8Array.of(0x61, 0xff))], 1007],
  ['cuts a character off', [text(Uint8Array.of(0xe2, 0x82))], 1007],
  ['sends a surrogate', [text(Uint8Array.of(0xed, 0xa0, 0x80))], 1007],
  ['sends an overlong slash', [text(Uint8Array.of(0xc0, 0xaf))], 1007],
  ['sends a character beyond U+10FFFF', [text(Uint8Array.of(0xf4, 0x90, 0x80, 0x80))], 1007],
  [
    'cuts a character off at the end of the last piece',
    [text(Uint8Array.of(0xe2), { fin: false }), { opcode: 0, payload: Uint8Array.of(0x82) }],
    1007,
  ],
  ['closes with one byte', [{ opcode: CLOSE, payload: 'a' }], 1002],
  ...[0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map(
    (code): [string, FrameParts[], number] => [
      `closes with the code ${code}`,
      [closeWith(code)],
      1002,
    ],
  ),
  ['closes with a reason that is not UTF-8', [closeWith(1000, Uint8Array.of(0xff))], 1007],
];

describe.each([
  ['our server', ourServer, true],
  ['our client', ourClient, false],
])('%s', (side, open, masks) => {
  it.each(violations)('answers a peer that %s', async (_, frames, code) => {
    const { peer, seen } = await open();
    peer.send(...frames);
    await expect.poll(() => peer.hasEnded).toBe(true);
    expect(peer.closeCode).toBe(code);
    expect(peer.frames).toHaveLength(1);
    peer.destroy();
    const name = code === 1009 ? 'MEDIA_OVERSIZED' : 'MEDIA_MALFORMED';
    await expect.poll(() => seen.at(-1)).toBe(`close ${code} ${name}`);
  });

  it(`answers 1002 to a frame that is ${masks ? 'not masked' : 'masked'}`, async () => {
    const { peer } = await open();
    peer.write(wireFrame(text('a'), !masks));
    await expect.poll(() => peer.hasEnded).toBe(true);
    expect(peer.closeCode).toBe(1002);
  });

  it(`${side === 'our server' ? 'masks nothing' : 'masks every frame'} that it sends`, async () => {
    const { peer, socket } = await open();
    socket.sendText('text');
    socket.sendAscii?.(Buffer.from('ascii'));
    socket.sendBinary(Uint8Array.of(1, 2));
    peer.send({ opcode: PING, payload: 'p' });
    await expect.poll(() => peer.frames.length).toBe(4);
    socket.close(1000, 'done');
    await expect.poll(() => peer.frames.length).toBe(5);
    expect(peer.frames.map(({ masked }) => masked)).toEqual(Array(5).fill(!masks));
    expect(peer.frames.map(({ payload }) => payload.toString('latin1'))).toEqual([
      'text',
      'ascii',
      '\x01\x02',
      'p',
      '\x03\xe8done',
    ]);
  });

  it('takes control frames between the pieces of a message, and answers pings in order', async () => {
    const { peer, seen } = await open();
    const [first, second] = ['one', 'a'.repeat(125)];
    peer.send(
      text('be', { fin: false }),
      { opcode: PING, payload: first },
      { opcode: 0, payload: 'gi', fin: false },
      { opcode: PONG, payload: 'nobody asked' },
      { opcode: PING, payload: second },
      { opcode: 0, payload: 'n' },
    );
    await expect.poll(() => seen).toEqual(['text begin']);
    const pongs = peer.frames.map(({ opcode, payload }) => [opcode, payload.toString()]);
    expect(pongs).toEqual([
      [PONG, first],
      [PONG, second],
    ]);
  });

  it('takes a text whose characters are cut at every byte, by pieces and by packets', async () => {
    const { peer, seen } = await open();
    const bytes = Buffer.from('κόσμε €𝄞');
    const pieces = [...bytes].map((byte, nth) => ({
      opcode: nth === 0 ? TEXT : 0,
      fin: nth === bytes.length - 1,
      payload: Uint8Array.of(byte),
    }));
    peer.send(...pieces);
    for (const byte of wireFrame(text(bytes), masks)) {
      peer.write(Uint8Array.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => seen).toEqual(['text κόσμε €𝄞', 'text κόσμε €𝄞']);
  });

  it.each([0, 1, 125, 126, 127, 65_535, 65_536])('takes a message of %d bytes', async (size) => {
    const { peer, seen } = await open();
    peer.send({ opcode: BINARY, payload: Buffer.alloc(size, 7) }, text('a'.repeat(size)));
    await expect
      .poll(() => seen.map((each) => each.length))
      .toEqual(['binary '.length + 2 * size, 'text '.length + size]);
  });

  it.each([
    1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
  ])('echoes a close with the code %d, and ignores everything behind it', async (code) => {
    const { peer, seen } = await open();
    peer.send(closeWith(code, 'bye'), text('late'), { opcode: 3 });
    await expect.poll(() => peer.closeCode).toBe(code);
    if (!masks) peer.destroy();
    else await expect.poll(() => peer.hasEnded).toBe(true);
    peer.destroy();
    await expect.poll(() => seen).toEqual([`close ${code} bye`]);
    expect(peer.frames).toHaveLength(1);
  });

  it('answers a close without a code by one without', async () => {
    const { peer, seen } = await open();
    peer.send({ opcode: CLOSE });
    await expect.poll(() => peer.closeCode).toBe(1005);
    peer.destroy();
    await expect.poll(() => seen).toEqual(['close 1005 ']);
  });

  it('sends nothing after its close, and takes no message of a peer that goes on', async () => {
    const { peer, seen, socket } = await open();
    socket.close(1000, 'done');
    socket.sendText('late');
    peer.send(text('late'), { opcode: PING }, closeWith(1000, 'done'));
    await expect.poll(() => peer.frames.length).toBe(1);
    await expect.poll(() => peer.closeCode).toBe(1000);
    peer.destroy();
    await expect.poll(() => seen).toEqual(['close 1000 done']);
    expect(peer.frames).toHaveLength(1);
  });
});
