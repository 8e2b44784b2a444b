// A websocket client for one media stream, with as little work per message as possible: frames go out as
// they were prepared, frames that come in are told where they lie. Masks are zero: a peer does the work of
// unmasking all the same, we need none to mask. Source: RFC 6455.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Bytes of one read; all calls share one buffer, as nothing of it is kept. */
const READ_BYTES = 64 * 1024;
/** A message that is larger than this is no message of a telephone call. */
const MESSAGE_BYTES_MAX = 256 * 1024;
/** From the connection to the answer of the upgrade. */
const UPGRADE_MS_MAX = 15_000;

const FIN = 0x80;
const MASKED = 0x80;
const OPCODE = { text: 0x1, binary: 0x2, close: 0x8, ping: 0x9, pong: 0xa };
const MASK_BYTES = 4;
/** Header of a message of 126 bytes and more. */
export const HEADER_BYTES = 4 + MASK_BYTES;

export interface MediaClientListener {
  onOpen(): void;
  /** One text message: bytes `from` to `to` of `chunk`, which is borrowed. */
  onText(chunk: Buffer, from: number, to: number): void;
  /** The same of a binary message. Undefined: there are none. */
  onBinary?(chunk: Buffer, from: number, to: number): void;
  /** Once, with why the connection ended. */
  onClose(reason: string): void;
}

const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

export class MediaClient {
  readonly #listener: MediaClientListener;
  readonly #socket: Socket;
  readonly #upgradeTimer: NodeJS.Timeout;
  #open = false;
  #ended = false;
  /** The begin of a message whose end has not come, and the answer to the upgrade until then. */
  #carry: Buffer | undefined;
  #reason = 'the connection was lost';

  constructor(
    options: { url: string; headers: Readonly<Record<string, string>> },
    listener: MediaClientListener,
  ) {
    this.#listener = listener;
    const url = new URL(options.url);
    const isSecure = url.protocol === 'wss:';
    const port = Number(url.port) || (isSecure ? 443 : 80);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isSecure) {
      this.#socket = connectTls({ host, port, servername: host });
      this.#socket.on('data', (chunk: Buffer) => this.#read(chunk));
    } else {
      const callback = (bytes: number): boolean => {
        this.#read(readBuffer.subarray(0, bytes));
        return true;
      };
      this.#socket = connect({ host, port, onread: { buffer: readBuffer, callback } });
    }
    this.#socket.setNoDelay(true);
    this.#socket.on('error', (error) => {
      this.#reason = error.message;
    });
    this.#socket.on('end', () => this.#socket.destroy());
    this.#socket.on('close', () => this.#finish());
    this.#upgradeTimer = setTimeout(() => this.#fail('no answer to the upgrade'), UPGRADE_MS_MAX);
    this.#socket.write(upgradeRequest(url, options.headers));
  }

  get open(): boolean {
    return this.#open;
  }

  /** Bytes that the gateway has not taken. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** Sends a whole frame, header and zero mask included; it must not be changed afterwards. */
  sendFrame(frame: Uint8Array): void {
    if (this.#open) this.#socket.write(frame);
  }

  sendText(text: string): void {
    this.sendFrame(clientFrame(OPCODE.text, Buffer.from(text)));
  }

  close(): void {
    if (!this.#open) {
      this.#socket.destroy();
      return;
    }
    this.#reason = 'closed by us';
    this.#open = false;
    const code = Buffer.from([1_000 >> 8, 1_000 & 0xff]);
    this.#socket.end(clientFrame(OPCODE.close, code));
  }

  #read(chunk: Buffer): void {
    let bytes = chunk;
    if (this.#carry !== undefined) {
      bytes = Buffer.concat([this.#carry, chunk]);
      this.#carry = undefined;
    }
    let at = 0;
    if (!this.#open && !this.#ended && this.#reason !== 'closed by us') {
      at = this.#upgraded(bytes);
      if (at < 0) return;
    }
    while (at < bytes.length) {
      const next = this.#message(bytes, at);
      if (next < 0) break;
      at = next;
    }
    if (at >= bytes.length) return;
    if (bytes.length - at > MESSAGE_BYTES_MAX) this.#fail('a message is too large');
    else this.#carry = Buffer.from(bytes.subarray(at));
  }

  /** Where the first frame begins, or -1 if the answer to the upgrade is not whole, or no. */
  #upgraded(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) {
      if (bytes.length > READ_BYTES) this.#fail('the answer to the upgrade is too large');
      else this.#carry = Buffer.from(bytes);
      return -1;
    }
    const [status = ''] = bytes.toString('latin1', 0, end).split('\r\n');
    if (!/^HTTP\/1\.1 101/.test(status)) {
      this.#fail(`the upgrade was refused: ${status}`);
      return -1;
    }
    clearTimeout(this.#upgradeTimer);
    this.#open = true;
    this.#listener.onOpen();
    return end + 4;
  }

  /** Takes the message that begins at `at`; where the next begins, or -1 if it is not whole. */
  #message(bytes: Buffer, at: number): number {
    if (bytes.length - at < 2) return -1;
    const first = bytes[at] as number;
    let length = bytes[at + 1] as number;
    let from = at + 2;
    if (length === 126) {
      if (bytes.length - at < 4) return -1;
      length = bytes.readUInt16BE(at + 2);
      from = at + 4;
    } else if (length > 126) {
      this.#fail('a message is masked or too large');
      return bytes.length;
    }
    const to = from + length;
    if (to > bytes.length) return -1;
    const { onBinary } = this.#listener;
    if (first === (FIN | OPCODE.text)) this.#listener.onText(bytes, from, to);
    else if (first === (FIN | OPCODE.binary) && onBinary !== undefined) onBinary(bytes, from, to);
    else this.#control(first, bytes.subarray(from, to));
    return to;
  }

  #control(first: number, payload: Buffer): void {
    if (!this.#open) {
      this.#socket.destroy(); // The answer to our close.
    } else if (first === (FIN | OPCODE.ping)) {
      this.sendFrame(clientFrame(OPCODE.pong, payload));
    } else if (first === (FIN | OPCODE.close)) {
      const code = payload.length >= 2 ? payload.readUInt16BE(0) : 1_005;
      this.#reason = `closed by the gateway: ${code} ${payload.toString('utf8', 2)}`.trim();
      this.#open = false;
      this.#socket.end(clientFrame(OPCODE.close, payload.subarray(0, 2)));
    } else if (first !== (FIN | OPCODE.pong)) {
      this.#fail(`a frame that media streams do not have: ${first.toString(16)}`);
    }
  }

  #fail(reason: string): void {
    this.#reason = reason;
    this.#open = false;
    this.#socket.destroy();
  }

  #finish(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#open = false;
    clearTimeout(this.#upgradeTimer);
    this.#listener.onClose(this.#reason);
  }
}

/** Writes the header of a text message of `bytes` bytes (126 to 65,535), masked with zero, into `frame`. */
export function writeTextHeader(frame: Uint8Array, bytes: number): void {
  writeHeader(frame, OPCODE.text, bytes);
}

export function writeBinaryHeader(frame: Uint8Array, bytes: number): void {
  writeHeader(frame, OPCODE.binary, bytes);
}

function writeHeader(frame: Uint8Array, opcode: number, bytes: number): void {
  frame[0] = FIN | opcode;
  frame[1] = MASKED | 126;
  frame[2] = bytes >> 8;
  frame[3] = bytes & 0xff;
  frame.fill(0, 4, HEADER_BYTES);
}

function clientFrame(opcode: number, payload: Buffer): Buffer {
  const isLong = payload.length > 125;
  const frame = Buffer.alloc((isLong ? 4 : 2) + MASK_BYTES + payload.length);
  frame[0] = FIN | opcode;
  frame[1] = MASKED | (isLong ? 126 : payload.length);
  if (isLong) frame.writeUInt16BE(payload.length, 2);
  payload.copy(frame, frame.length - payload.length);
  return frame;
}

function upgradeRequest(url: URL, headers: Readonly<Record<string, string>>): string {
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}
