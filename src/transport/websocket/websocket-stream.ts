// A websocket on a stream after its handshake, as client or server: messages, pings and the close. Its owner sets time
// limits and limits of outgoing data. Source: RFC 6455 §5 to §7.

import type { Duplex } from 'node:stream';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import type { BatchedReads } from '../../runtime/direct-socket.ts';
import { DirectSocket, type SocketKernel } from '../../runtime/direct-socket.ts';
import { attachSharedReads } from '../../runtime/shared-reads.ts';
import { systemRandom } from '../../std/random.ts';
import { SharedFrameBuffer } from './shared-frame.ts';
import {
  frameOf,
  NO_CODE,
  OPCODE,
  textHead,
  WebsocketFault,
  type WebsocketFrameHandler,
  WebsocketReader,
  writeTextHead,
} from './websocket-frames.ts';

/** Code for a connection that ended without a close frame. */
const BROKEN = 1006;
const MASK_BYTES = 4;
const SHORT_BYTES_MAX = 0xffff;
const REASON_BYTES_MAX = 123;
const NOTHING = new Uint8Array(0);

/** Buffer shared by all sockets, since the kernel usually accepts a message at once. */
const outgoing = new SharedFrameBuffer();

export interface WebsocketListener {
  onText(message: string): void;
  /** Called with a message of ASCII, `bytes` from `from` to `end`, borrowed; instead of `onText`. */
  onAscii(bytes: Buffer, from: number, end: number): void;
  /** Called with a binary message, which is borrowed until the call returns. */
  onBinary(message: Uint8Array): void;
  /** Called when a ping was received and answered. */
  onPing(bytes: number): void;
  onPong(bytes: number): void;
  /** Called when the peer breaks the protocol: MEDIA_MALFORMED or MEDIA_OVERSIZED. Nothing more is read. Our side of
   *  the connection ends when this returns: by then the listener has closed it with `closeCode`. */
  onFault(code: ErrorCode, closeCode: number): void;
  /** Called once, when the connection is gone, with the peer's code; 1005 without one, 1006 if it broke. */
  onClose(code: number, reason: string): void;
}

export interface WebsocketOptions {
  /** Plain TCP is read without its stream: see runtime/shared-reads.ts. */
  socket: Duplex;
  /** Bytes received after the handshake. */
  head: Buffer;
  /** Our role. */
  side: 'server' | 'client';
  messageBytesMax: number;
  listener: WebsocketListener;
  /** Speeds up reads and writes where possible. Default: none. */
  kernel?: SocketKernel | undefined;
}

export class WebsocketStream implements WebsocketFrameHandler {
  readonly #socket: Duplex;
  readonly #direct: DirectSocket | undefined;
  readonly #isClient: boolean;
  readonly #listener: WebsocketListener;
  readonly #reader: WebsocketReader;
  #reading = true;
  #closeSent = false;
  /** Content of the peer's close frame. */
  #closeCode = BROKEN;
  #closeReason = '';

  constructor({ socket, head, side, messageBytesMax, listener, kernel }: WebsocketOptions) {
    this.#isClient = side === 'client';
    this.#listener = listener;
    this.#reader = new WebsocketReader({ masked: !this.#isClient, messageBytesMax, taker: this });
    const take = (bytes: Buffer, count: number): void => this.#read(bytes, count);
    const reads = attachSharedReads(socket, take);
    this.#socket = reads.socket;
    if ('descriptor' in reads && kernel !== undefined) {
      this.#direct = new DirectSocket({ ...reads, kernel, take, writeHead: writeTextHead });
    }
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.once('end', () => this.#socket.end());
    this.#socket.once('close', () => this.#closed());
    if (head.length === 0) return;
    // Deferred: the constructor's caller does not have the socket yet.
    queueMicrotask(() => this.#read(head, head.length));
  }

  get open(): boolean {
    return !this.#closeSent && this.#closeCode === BROKEN && this.#socket.writable;
  }

  /** Bytes that the kernel has not accepted. */
  get bufferedBytes(): number {
    return this.#socket.writableLength;
  }

  get reads(): BatchedReads | undefined {
    return this.#direct;
  }

  sendText(message: string): void {
    const bytes = Buffer.byteLength(message);
    const isPlain = bytes === message.length && bytes <= SHORT_BYTES_MAX && !this.#isClient;
    if (isPlain) this.#socket.write(textHead(bytes) + message, 'latin1');
    else this.#send(OPCODE.text, Buffer.from(message));
  }

  /** Sends a text message of plain ASCII; borrowed until the call returns. */
  sendAscii(message: Uint8Array): void {
    if (this.#isClient || message.length > SHORT_BYTES_MAX) {
      this.#send(OPCODE.text, message);
      return;
    }
    if (this.#direct !== undefined) {
      this.#direct.sendText(message);
      return;
    }
    this.#socket.write(outgoing.textFrame(message));
    // Data that the kernel has not accepted is still in use.
    if (this.#socket.writableLength > 0) outgoing.release();
  }

  /** Sends a binary message, which is borrowed until the call returns. */
  sendBinary(message: Uint8Array): void {
    this.#send(OPCODE.binary, message);
  }

  ping(): void {
    if (this.open) this.#send(OPCODE.ping, NOTHING);
  }

  /** Starts the closing handshake; `onClose` follows when it is done. Reasons are cut to 123 bytes. */
  close(code: number, reason: string): void {
    if (this.#closeSent || !this.#socket.writable) return;
    this.#closeSent = true;
    const text = Buffer.from(reason).subarray(0, REASON_BYTES_MAX);
    const payload = Buffer.alloc(code === NO_CODE ? 0 : 2 + text.length);
    if (payload.length > 0) {
      payload.writeUInt16BE(code);
      payload.set(text, 2);
    }
    this.#send(OPCODE.close, payload);
  }

  /** Ends the connection without a close frame. */
  terminate(): void {
    this.#socket.destroy();
  }

  // Events of the frame reader.

  onText(message: string): void {
    if (this.#reading) this.#listener.onText(message);
  }

  onAscii(bytes: Buffer, from: number, end: number): void {
    if (this.#reading) this.#listener.onAscii(bytes, from, end);
  }

  onBinary(message: Uint8Array): void {
    if (this.#reading) this.#listener.onBinary(message);
  }

  onPing(payload: Uint8Array): void {
    if (!this.#reading) return;
    if (this.open) this.#send(OPCODE.pong, payload);
    this.#listener.onPing(payload.length);
  }

  onPong(payload: Uint8Array): void {
    if (this.#reading) this.#listener.onPong(payload.length);
  }

  onCloseFrame(code: number, reason: string): void {
    if (!this.#reading) return;
    this.#reading = false;
    this.#closeCode = code;
    this.#closeReason = reason;
    this.close(code, reason);
    // The server ends the connection first (RFC 6455 §7.1.1).
    if (!this.#isClient) this.#socket.end();
  }

  #send(opcode: (typeof OPCODE)[keyof typeof OPCODE], payload: Uint8Array): void {
    const mask = this.#isClient ? systemRandom.bytes(MASK_BYTES) : undefined;
    this.#socket.write(frameOf(opcode, payload, mask));
  }

  #read(bytes: Buffer, count: number): void {
    if (!this.#reading) return;
    try {
      this.#reader.read(bytes, count);
    } catch (error) {
      this.#reading = false;
      if (!(error instanceof WebsocketFault)) throw error;
      this.#listener.onFault(error.code, error.closeCode);
      this.#socket.end();
    }
  }

  #closed(): void {
    this.#reading = false;
    this.#listener.onClose(this.#closeCode, this.#closeReason);
  }
}
