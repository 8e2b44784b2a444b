// Real connections on loopback, read and written by the compiled code: how kernel and Node work together is
// what is tested.

import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DirectSocket, type SocketKernel, socketKernel } from '../../src/runtime/direct-socket.ts';
import { loadAddon } from '../../src/runtime/native-kernels.ts';
import { attachSharedReads } from '../../src/runtime/shared-reads.ts';
import { selfTestSockets } from '../../src/runtime/socket-self-test.ts';
import { systemClock } from '../../src/std/clock.ts';
import { writeTextHead } from '../../src/transport/websocket/websocket-frames.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { buildAddon, compiler } from './built-addon.ts';

const TEXT = Buffer.alloc(1_000, 'a');
/** Bytes of a frame with that text. */
const FRAME_BYTES = TEXT.length + 4;

describe.runIf(compiler !== undefined)('a connection that compiled code reads and writes', () => {
  let built: ReturnType<typeof buildAddon>;
  let kernel: SocketKernel;
  const closing: (() => void)[] = [];

  beforeAll(() => {
    built = buildAddon();
    const addon = loadAddon([built.folder]);
    if (addon === undefined) throw new Error('no addon');
    kernel = socketKernel(addon);
  }, 120_000);
  afterAll(() => built.remove());
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Both ends of a connection, and what came to ours. */
  async function pair() {
    const server = createServer();
    const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const peer = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const heard: string[] = [];
    const take = (bytes: Buffer, count: number): void => {
      heard.push(bytes.toString('latin1', 0, count));
    };
    const reads = attachSharedReads(await accepted, take);
    if (!('descriptor' in reads)) throw new Error('not a connection of its own');
    const direct = new DirectSocket({ ...reads, kernel, take, writeHead: writeTextHead });
    const ends: string[] = [];
    reads.socket.on('end', () => ends.push('end'));
    reads.socket.on('error', () => ends.push('error'));
    reads.socket.on('close', () => ends.push('close'));
    peer.on('error', () => undefined);
    closing.push(() => {
      peer.destroy();
      reads.socket.destroy();
      server.close();
    });
    return { direct, socket: reads.socket, peer, heard, ends };
  }

  /** Bytes have come, and nobody was told. */
  async function said(peer: Socket, text: string): Promise<void> {
    await new Promise<void>((resolve) => peer.write(text, () => resolve()));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  it('is read when it is taken, and by itself before and after', async () => {
    const { direct, peer, heard } = await pair();
    peer.write('one');
    await expect.poll(() => heard).toEqual(['one']);
    direct.setBatched(true);
    await said(peer, 'two');
    await said(peer, 'three');
    expect(heard).toEqual(['one']);
    direct.readNow();
    expect(heard).toEqual(['one', 'twothree']);
    direct.readNow();
    expect(heard).toEqual(['one', 'twothree']);
    await said(peer, 'four');
    direct.setBatched(false);
    await expect.poll(() => heard).toEqual(['one', 'twothree', 'four']);
    peer.write('five');
    await expect.poll(() => heard.at(-1)).toBe('five');
    direct.readNow(); // Not while Node reads.
    expect(heard.join()).toBe('one,twothree,four,five');
  });

  it('delivers the last data, then its end, as Node does', async () => {
    const { direct, socket, peer, heard, ends } = await pair();
    direct.setBatched(true);
    peer.end('bye');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ends).toEqual([]);
    direct.readNow();
    expect(heard).toEqual(['bye']);
    direct.readNow();
    await expect.poll(() => ends).toContain('end');
    direct.setBatched(true);
    direct.readNow();
    socket.end();
    await expect.poll(() => ends).toEqual(['end', 'close']);
  });

  it('reports a connection that was reset', async () => {
    const { direct, socket, peer, ends } = await pair();
    socket.on('end', () => socket.end());
    direct.setBatched(true);
    peer.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    direct.readNow();
    await expect.poll(() => ends).toContain('close');
  });

  it('finds out by sending, too', async () => {
    const { direct, socket, peer, ends } = await pair();
    direct.setBatched(true);
    peer.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 20));
    for (let i = 0; i < 3; i++) if (!socket.destroyed) direct.sendText(TEXT);
    await expect.poll(() => ends).toContain('close');
    direct.sendText(TEXT);
    direct.readNow();
  });

  it('keeps the order of all that is sent to a peer that stalls', async () => {
    const { direct, socket, peer } = await pair();
    peer.pause();
    const texts = Array.from({ length: 12_000 }, (_, nth) =>
      Buffer.from(String(nth).padStart(TEXT.length, '.')),
    );
    for (const text of texts) direct.sendText(text);
    expect(socket.writableLength).toBeGreaterThan(0);
    const chunks: Buffer[] = [];
    let count = 0;
    peer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      count += chunk.length;
    });
    peer.resume();
    await expect.poll(() => count, { timeout: 10_000 }).toBe(texts.length * FRAME_BYTES);
    const bytes = Buffer.concat(chunks);
    texts.forEach((text, nth) => {
      const at = nth * FRAME_BYTES;
      expect(bytes.subarray(at + 4, at + FRAME_BYTES).equals(text)).toBe(true);
    });
    direct.sendText(TEXT); // At once again.
    expect(socket.writableLength).toBe(0);
  });

  it.each([0, 1, 125, 126, 720, 65_535])('sends a text of %d bytes as one frame', async (size) => {
    const { direct, peer } = await pair();
    const chunks: Buffer[] = [];
    peer.on('data', (chunk: Buffer) => chunks.push(chunk));
    const text = Buffer.alloc(size, 'x');
    direct.sendText(text);
    const headBytes = size > 125 ? 4 : 2;
    await expect.poll(() => Buffer.concat(chunks).length).toBe(headBytes + size);
    expect(Buffer.concat(chunks).subarray(headBytes).equals(text)).toBe(true);
  });

  it('passes the self-test at start', async () => {
    const { log, lines } = quietLog();
    expect(await selfTestSockets({ clock: systemClock, log, kernel })).toBe(kernel);
    expect(lines()).toEqual([]);
  });

  it('refuses more bytes than there are', () => {
    expect(kernel.send(-1, 10)).toBe(-2);
    expect(kernel.send(0, -1)).toBe(-2);
    expect(kernel.send(0, 10_000_000)).toBe(-2);
    expect(kernel.receive(-1)).toBe(-2);
  });
});

describe('a descriptor', () => {
  it('is not used any more once its socket is destroyed: it may be another connection', () => {
    const used: string[] = [];
    const kernel: SocketKernel = {
      received: Buffer.alloc(100),
      outgoing: Buffer.alloc(100),
      receive: () => used.push('receive'),
      send: () => used.push('send'),
    };
    const socket = new Socket();
    socket.on('error', () => undefined);
    const direct = new DirectSocket({
      socket,
      descriptor: 7,
      kernel,
      take: () => undefined,
      writeHead: writeTextHead,
    });
    direct.setBatched(true);
    direct.readNow();
    expect(used).toEqual(['receive']);
    socket.destroy();
    direct.readNow();
    direct.sendText(Buffer.from('text'));
    direct.setBatched(false);
    expect(used).toEqual(['receive']);
  });
});
