// A websocket peer that sends any bytes: frames as the test writes them, and what comes back as frames. Its reader
// is its own, so that no fault of ours is on both sides.

import { createHash } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';
const MASK = [0x11, 0x22, 0x33, 0x44];

export interface FrameParts {
  opcode: number;
  payload?: Uint8Array | string;
  /** Default: true. */
  fin?: boolean;
  /** Three bits. Default: 0. */
  reserved?: number;
  /** Default: the shortest that holds the payload's length. */
  lengthBytes?: 0 | 2 | 8;
  /** Default: the payload's. */
  length?: bigint;
}

export interface SeenFrame {
  opcode: number;
  payload: Buffer;
  masked: boolean;
}

/** A frame as it is on the wire. */
export function wireFrame(parts: FrameParts, masked: boolean): Buffer {
  const payload = Buffer.from(parts.payload ?? '');
  const { fin = true, reserved = 0, length = BigInt(payload.length) } = parts;
  const shortest = payload.length > 0xffff ? 8 : payload.length > 125 ? 2 : 0;
  const { lengthBytes = shortest } = parts;
  const head = Buffer.alloc(2 + lengthBytes);
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | parts.opcode;
  if (lengthBytes === 0) head[1] = Number(length);
  else if (lengthBytes === 2) head.writeUInt16BE(Number(length), 2);
  else head.writeBigUInt64BE(length, 2);
  if (lengthBytes > 0) head[1] = lengthBytes === 2 ? 126 : 127;
  if (!masked) return Buffer.concat([head, payload]);
  head[1] = (head[1] as number) | 0x80;
  const body = payload.map((byte, nth) => byte ^ (MASK[nth % 4] as number));
  return Buffer.concat([head, Buffer.from(MASK), body]);
}

export class RawPeer {
  readonly frames: SeenFrame[] = [];
  hasEnded = false;
  readonly #socket: Socket;
  readonly #masks: boolean;
  #rest: Buffer;

  /** A connection whose handshake is done, and what came behind it. `masks`: it is the client. */
  constructor(socket: Socket, masks: boolean, rest: Buffer) {
    this.#socket = socket;
    this.#masks = masks;
    this.#rest = rest;
    this.#read();
    socket.on('data', (chunk) => {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      this.#read();
    });
    socket.on('end', () => {
      this.hasEnded = true;
    });
    socket.on('error', () => undefined);
  }

  send(...frames: FrameParts[]): void {
    this.write(Buffer.concat(frames.map((parts) => wireFrame(parts, this.#masks))));
  }

  write(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** The close code of the last frame, if that is a close frame; 1005 without one. */
  get closeCode(): number | undefined {
    const last = this.frames.at(-1);
    if (last?.opcode !== 8) return undefined;
    return last.payload.length < 2 ? 1005 : last.payload.readUInt16BE(0);
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #read(): void {
    for (let found = firstFrame(this.#rest); found; found = firstFrame(this.#rest)) {
      this.frames.push(found.frame);
      this.#rest = this.#rest.subarray(found.end);
    }
  }
}

/** Undefined while it is not whole. */
function firstFrame(bytes: Buffer): { frame: SeenFrame; end: number } | undefined {
  const [first = 0, second = 0] = bytes;
  const masked = second >= 0x80;
  const short = second & 0x7f;
  const lengthBytes = short === 127 ? 8 : short === 126 ? 2 : 0;
  const at = 2 + lengthBytes + (masked ? 4 : 0);
  if (bytes.length < at) return undefined;
  let length = short;
  if (lengthBytes === 2) length = bytes.readUInt16BE(2);
  if (lengthBytes === 8) length = Number(bytes.readBigUInt64BE(2));
  const end = at + length;
  if (bytes.length < end) return undefined;
  const mask = masked ? bytes.subarray(at - 4, at) : Buffer.alloc(4);
  const payload = bytes.subarray(at, end).map((byte, nth) => byte ^ (mask[nth % 4] ?? 0));
  return { frame: { opcode: first & 0x0f, payload: Buffer.from(payload), masked }, end };
}

/** The peer of a server of ours. */
export async function rawClient(port: number, path: string): Promise<RawPeer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  const { rest } = await headOf(socket);
  return new RawPeer(socket, true, rest);
}

/** Listens for one client of ours; `peer` settles when it has come. */
export async function rawServer(): Promise<{
  port: number;
  peer: Promise<RawPeer>;
  close(): void;
}> {
  const tcp = createServer();
  const peer = new Promise<RawPeer>((resolve, reject) => {
    tcp.once('connection', (socket) => void answer(socket).then(resolve, reject));
  });
  await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
  const address = tcp.address();
  if (address === null || typeof address === 'string') throw new Error('no TCP address');
  return { port: address.port, peer, close: () => void tcp.close() };
}

async function answer(socket: Socket): Promise<RawPeer> {
  const { head, rest } = await headOf(socket);
  const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1] ?? '';
  const accept = createHash('sha1')
    .update(key + GUID)
    .digest('base64');
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\nSec-WebSocket-Protocol: media\r\n\r\n`,
  );
  return new RawPeer(socket, false, rest);
}

/** The head of an HTTP message, and what came behind it. */
async function headOf(socket: Socket): Promise<{ head: string; rest: Buffer }> {
  let bytes = Buffer.alloc(0);
  while (!bytes.includes('\r\n\r\n')) {
    const chunk = await new Promise<Buffer>((resolve) => socket.once('data', resolve));
    bytes = Buffer.concat([bytes, chunk]);
  }
  const end = bytes.indexOf('\r\n\r\n') + 4;
  return { head: bytes.toString('latin1', 0, end), rest: bytes.subarray(end) };
}
