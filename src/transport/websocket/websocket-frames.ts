// Websocket frames as bytes: parses them from a stream in segments of any size, and writes them. Pure;
// websocket-stream.ts has the protocol. No extensions. Source: RFC 6455 §5.

import { isUtf8 } from 'node:buffer';
import { GatewayError } from '../../errors/gateway-error.ts';
import { CLOSE } from '../media-socket.ts';

export const OPCODE = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;
type Opcode = (typeof OPCODE)[keyof typeof OPCODE];

/** Close code for a close frame that names none (RFC 6455 §7.1.5). */
export const NO_CODE = 1005;
const FIN = 0x80;
const MASKED = 0x80;
const CONTROL_BYTES_MAX = 125;
/** Fragments of one message: no provider fragments its messages. */
const FRAGMENTS_MAX = 128;
/** Initial space for an incomplete frame: one of telephone audio. It grows as needed. */
const HELD_BYTES_USUAL = 512;

/** Protocol violation by the peer, or an exceeded limit. */
export class WebsocketFault extends GatewayError {
  /** The close code (RFC 6455 §7.4.1). */
  readonly closeCode: number;

  constructor(code: 'MEDIA_MALFORMED' | 'MEDIA_OVERSIZED', closeCode: number, what: string) {
    super(code, { what });
    this.closeCode = closeCode;
  }
}

/** Calls are synchronous and in order. */
export interface WebsocketFrameHandler {
  onText(message: string): void;
  /** Called with a whole message of ASCII, `bytes` from `from` to `end`, borrowed; instead of `onText`. */
  onAscii(bytes: Buffer, from: number, end: number): void;
  /** Called with a binary message, which is borrowed until the call returns; so are all payloads. */
  onBinary(message: Uint8Array): void;
  onPing(payload: Uint8Array): void;
  onPong(payload: Uint8Array): void;
  onCloseFrame(code: number, reason: string): void;
}

export class WebsocketReader {
  readonly #masked: boolean;
  readonly #messageBytesMax: number;
  readonly #taker: WebsocketFrameHandler;
  /** Bytes of an incomplete frame. */
  #held = Buffer.alloc(0);
  #heldBytes = 0;
  /** Properties of the last measured frame. */
  #payloadAt = 0;
  /** Parts of a fragmented message. */
  #fragments: Buffer[] = [];
  #fragmentBytes = 0;
  #fragmentOpcode: Opcode = OPCODE.more;
  /** Whether a close frame was received: later data is ignored (RFC 6455 §5.5.1). */
  #isClosed = false;

  /** `masked`: the peer is the client. */
  constructor(options: { masked: boolean; messageBytesMax: number; taker: WebsocketFrameHandler }) {
    this.#masked = options.masked;
    this.#messageBytesMax = options.messageBytesMax;
    this.#taker = options.taker;
  }

  /** Parses the first `count` of `bytes`, which are borrowed and changed. Throws WebsocketFault; the stream is
   *  unusable then. */
  read(bytes: Buffer, count: number): void {
    for (let at = 0; at < count && !this.#isClosed; ) {
      const end = this.#heldBytes > 0 ? -1 : this.#measure(bytes, at, count);
      if (end < 0 || end > count) {
        at += this.#hold(bytes, at, count);
      } else {
        this.#take(bytes, at, end);
        at = end;
      }
    }
  }

  /** Index of the end of the frame that begins at `from`; minus the number of its bytes while its header is
   *  incomplete. */
  #measure(bytes: Buffer, from: number, to: number): number {
    if (to - from < 2) return -2;
    const second = bytes[from + 1] as number;
    const short = second & 0x7f;
    this.#check(bytes[from] as number, short, second >= MASKED);
    const headerBytes = 2 + (short === 126 ? 2 : short === 127 ? 8 : 0) + (this.#masked ? 4 : 0);
    if (to - from < headerBytes) return -headerBytes;
    const payloadBytes = lengthOf(bytes, from + 2, short);
    if (payloadBytes < lengthMin(short)) throw malformed('length');
    const isData = ((bytes[from] as number) & 0x0f) < OPCODE.close;
    const messageBytes = payloadBytes + (isData ? this.#fragmentBytes : 0);
    if (messageBytes > this.#messageBytesMax) throw oversized('message');
    this.#payloadAt = from + headerBytes;
    return this.#payloadAt + payloadBytes;
  }

  #check(first: number, short: number, masked: boolean): void {
    const opcode = first & 0x0f;
    if ((first & 0x70) !== 0) throw malformed('reserved bits');
    if (masked !== this.#masked) throw malformed('mask');
    if (opcode >= OPCODE.close) {
      if (opcode > OPCODE.pong) throw malformed('opcode');
      if (first < FIN || short > CONTROL_BYTES_MAX) throw malformed('control frame');
      if (opcode === OPCODE.close && short === 1) throw malformed('close code');
    } else if (opcode > OPCODE.binary) {
      throw malformed('opcode');
    } else if ((opcode === OPCODE.more) !== (this.#fragmentOpcode !== OPCODE.more)) {
      throw malformed('fragment');
    }
  }

  /** Copies the missing bytes of the current frame, first those of its header. Returns their number. */
  #hold(bytes: Buffer, at: number, count: number): number {
    const end = this.#measure(this.#held, 0, this.#heldBytes);
    const whole = this.#heldBytes === 0 ? this.#wanted(bytes, at, count) : Math.abs(end);
    if (this.#held.length < whole) this.#grow(whole);
    const taken = Math.min(whole - this.#heldBytes, count - at);
    bytes.copy(this.#held, this.#heldBytes, at, at + taken);
    this.#heldBytes += taken;
    if (this.#measure(this.#held, 0, this.#heldBytes) === this.#heldBytes) {
      const heldBytes = this.#heldBytes;
      this.#heldBytes = 0;
      this.#take(this.#held, 0, heldBytes);
    }
    return taken;
  }

  /** Length of the frame that begins at `at`, or of its header while that is incomplete. */
  #wanted(bytes: Buffer, at: number, count: number): number {
    const end = this.#measure(bytes, at, count);
    return end < 0 ? -end : end - at;
  }

  #grow(bytes: number): void {
    const grown = Buffer.alloc(Math.max(bytes, HELD_BYTES_USUAL));
    this.#held.copy(grown, 0, 0, this.#heldBytes);
    this.#held = grown;
  }

  #take(bytes: Buffer, from: number, end: number): void {
    const first = bytes[from] as number;
    const opcode = (first & 0x0f) as Opcode; // checked when it was measured
    const at = this.#payloadAt;
    const all = this.#masked ? unmask(bytes, at, end) : anyOf(bytes, at, end);
    if (opcode === OPCODE.text && first >= FIN) {
      if (all < 0x80) this.#taker.onAscii(bytes, at, end);
      else this.#taker.onText(utf8Of(bytes, at, end));
      return;
    }
    const payload = bytes.subarray(at, end);
    if (opcode === OPCODE.binary && first >= FIN) this.#taker.onBinary(payload);
    else if (opcode === OPCODE.ping) this.#taker.onPing(payload);
    else if (opcode === OPCODE.pong) this.#taker.onPong(payload);
    else if (opcode === OPCODE.close) this.#close(payload);
    else this.#fragment(opcode, payload, first >= FIN);
  }

  #fragment(opcode: Opcode, payload: Buffer, last: boolean): void {
    if (opcode !== OPCODE.more) this.#fragmentOpcode = opcode;
    this.#fragmentBytes += payload.length;
    this.#fragments.push(Buffer.from(payload));
    if (this.#fragments.length > FRAGMENTS_MAX) throw oversized('fragments');
    if (!last) return;
    const message = Buffer.concat(this.#fragments);
    const isText = this.#fragmentOpcode === OPCODE.text;
    this.#fragments = [];
    this.#fragmentBytes = 0;
    this.#fragmentOpcode = OPCODE.more;
    if (isText) this.#taker.onText(utf8Of(message, 0, message.length));
    else this.#taker.onBinary(message);
  }

  #close(payload: Buffer): void {
    this.#isClosed = true;
    if (payload.length === 0) {
      this.#taker.onCloseFrame(NO_CODE, '');
      return;
    }
    const code = payload.readUInt16BE(0);
    if (!isCloseCode(code)) throw malformed('close code');
    this.#taker.onCloseFrame(code, utf8Of(payload, 2, payload.length));
  }
}

/** Encodes a frame. A client's is masked with `mask`, four random bytes; a server's is not. */
export function frameOf(opcode: Opcode, payload: Uint8Array, mask: Uint8Array | undefined): Buffer {
  const headerBytes = headerBytesOf(payload.length);
  const frame = Buffer.allocUnsafe(headerBytes + (mask === undefined ? 0 : 4) + payload.length);
  frame[0] = FIN | opcode;
  if (headerBytes === 2) frame[1] = payload.length;
  else if (headerBytes === 4) frame.writeUInt16BE(payload.length, 2);
  else frame.writeBigUInt64BE(BigInt(payload.length), 2);
  if (headerBytes === 4) frame[1] = 126;
  if (headerBytes === 10) frame[1] = 127;
  if (mask === undefined) {
    frame.set(payload, headerBytes);
    return frame;
  }
  frame[1] = (frame[1] as number) | MASKED;
  frame.set(mask, headerBytes);
  frame.set(payload, headerBytes + 4);
  unmask(frame, headerBytes + 4, frame.length);
  return frame;
}

/** The header of a server's text frame of up to 65,535 bytes, as a string with one character per byte: followed
 *  by an ASCII message, it is a whole frame. */
export function textHead(bytes: number): string {
  return bytes <= CONTROL_BYTES_MAX
    ? String.fromCharCode(FIN | OPCODE.text, bytes)
    : String.fromCharCode(FIN | OPCODE.text, 126, bytes >> 8, bytes & 0xff);
}

/** Writes the same header into `out`. Returns its length. */
export function writeTextHead(out: Uint8Array, bytes: number): number {
  out[0] = FIN | OPCODE.text;
  if (bytes <= CONTROL_BYTES_MAX) {
    out[1] = bytes;
    return 2;
  }
  out[1] = 126;
  out[2] = bytes >> 8;
  out[3] = bytes & 0xff;
  return 4;
}

function headerBytesOf(payloadBytes: number): number {
  if (payloadBytes <= CONTROL_BYTES_MAX) return 2;
  return payloadBytes <= 0xffff ? 4 : 10;
}

function lengthOf(bytes: Buffer, at: number, short: number): number {
  if (short < 126) return short;
  if (short === 126) return bytes.readUInt16BE(at);
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}

/** Smallest length of each form: each length must use the shortest (RFC 6455 §5.2). */
function lengthMin(short: number): number {
  if (short < 126) return 0;
  return short === 126 ? CONTROL_BYTES_MAX + 1 : 0x10000;
}

/** A mask as bytes and as a 32-bit word in this processor's byte order. */
const maskBytes = new Uint8Array(4);
const maskWord = new Int32Array(maskBytes.buffer);
/** Memory of the last buffer, which is mostly the same one. */
let viewed: ArrayBufferLike | undefined;
let lastRead: ArrayBufferLike | undefined;
let words: Int32Array = new Int32Array(0);

/** Unmasks the data after the mask (the four bytes before `from`); returns all its bytes or-ed together. */
function unmask(bytes: Buffer, from: number, end: number): number {
  const origin = bytes.byteOffset;
  // Whole words lie between these.
  const wordsFrom = Math.min(end, from + ((4 - ((origin + from) & 3)) & 3));
  const wordsEnd = wordsFrom + ((end - wordsFrom) & ~3);
  for (let nth = 0; nth < 4; nth++) {
    maskBytes[nth] = bytes[from - 4 + ((wordsFrom - from + nth) & 3)] as number;
  }
  const mask = maskWord[0] as number;
  if (mask === 0) return anyOf(bytes, from, end);
  const words = wordsOf(bytes.buffer);
  if (words === undefined) return unmaskBytes(bytes, from, from, end);
  const last = (origin + wordsEnd) >> 2;
  let all = 0;
  for (let nth = (origin + wordsFrom) >> 2; nth < last; nth++) {
    const word = (words[nth] as number) ^ mask;
    words[nth] = word;
    all |= word;
  }
  all |= all >>> 16;
  all |= all >>> 8;
  return (
    (all & 0xff) |
    unmaskBytes(bytes, from, from, wordsFrom) |
    unmaskBytes(bytes, from, wordsEnd, end)
  );
}

function unmaskBytes(bytes: Buffer, maskEnd: number, from: number, end: number): number {
  let all = 0;
  for (let i = from; i < end; i++) {
    const byte = (bytes[i] as number) ^ (bytes[maskEnd - 4 + ((i - maskEnd) & 3)] as number);
    bytes[i] = byte;
    all |= byte;
  }
  return all;
}

/** View of the buffer's memory as words. Undefined when the buffer changed, since a view for each would be garbage. */
function wordsOf(memory: ArrayBufferLike): Int32Array | undefined {
  const isNew = memory !== lastRead;
  lastRead = memory;
  if (memory === viewed) return words;
  if (isNew) return undefined;
  words = new Int32Array(memory, 0, memory.byteLength >> 2);
  viewed = memory;
  return words;
}

function anyOf(bytes: Buffer, from: number, end: number): number {
  let all = 0;
  for (let i = from; i < end; i++) all |= bytes[i] as number;
  return all;
}

function utf8Of(bytes: Buffer, from: number, end: number): string {
  if (!isUtf8(bytes.subarray(from, end)))
    throw new WebsocketFault('MEDIA_MALFORMED', CLOSE.invalidText, 'text');
  return bytes.toString('utf8', from, end);
}

/** Whether a close code may be sent: those of RFC 6455 §7.4 and IANA's additions (1012 to 1014). */
function isCloseCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code !== 1004 && code !== NO_CODE && code !== 1006;
}

function malformed(what: string): WebsocketFault {
  return new WebsocketFault('MEDIA_MALFORMED', CLOSE.protocol, what);
}

function oversized(what: string): WebsocketFault {
  return new WebsocketFault('MEDIA_OVERSIZED', CLOSE.tooBig, what);
}
