// Decodes a Twilio audio message in its usual fixed form directly from the socket's bytes, without a string or an
// object. Any other message is left to JSON (media.ts), with the same result.
// Source: twilio.com/docs/voice/media-streams/websocket-messages

import type { AudioListener } from '../provider/media-session.ts';

/** Payload bytes of one message. Twilio sends 160; more than this is not telephone audio. */
export const MEDIA_PAYLOAD_BYTES_MAX = 48 * 1024;
/** One second of audio: the initial size of the buffer. */
const PAYLOAD_BYTES_USUAL = 8_000;
/** Digits of a counter or of milliseconds that a number holds exactly. */
const DIGITS_MAX = 15;

const HEAD = Buffer.from('{"event":"media","sequenceNumber":"');
const SID_FIRST = Buffer.from('","streamSid":"');
const SID_LAST = Buffer.from('"},"streamSid":"');
const NEXT = Buffer.from('",');
const BODY = Buffer.from('"media":{"track":"inbound","chunk":"');
const TIMESTAMP = Buffer.from('","timestamp":"');
const PAYLOAD = Buffer.from('","payload":"');
const TAIL = Buffer.from('"}}');
const TAIL_AFTER_SID = Buffer.from('"}');
const PADDING = 61; // =
/** Value of each base64 character; any other has bits above the lowest six. */
const BASE64 = new Uint8Array(256).fill(0xff);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let i = 0; i < ALPHABET.length; i++) BASE64[ALPHABET.charCodeAt(i)] = i;

/** Shared by all streams: the listener is done with a payload before the next message is decoded. */
let payload = new Uint8Array(PAYLOAD_BYTES_USUAL);
/** The used part of `payload`; kept while the size stays. */
let filled = payload.subarray(0, 0);

export class MediaMessageReader {
  /** Short enough to be stored inside its object. */
  readonly #sid: Uint8Array;

  constructor(streamSid: string) {
    this.#sid = Uint8Array.from(Buffer.from(streamSid, 'latin1'));
  }

  /** Decodes the message in `bytes` from `from` to `end`, borrowed. False if it is not audio of the caller in
   *  the fixed form: nothing was reported then. */
  read(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    if (!isAt(bytes, from, HEAD)) return false;
    let at = afterDigits(bytes, from + HEAD.length, end);
    let payloadEnd = end - TAIL.length;
    if (isAt(bytes, at, SID_FIRST)) {
      at = this.#afterSid(bytes, at + SID_FIRST.length);
      if (at < 0 || !isAt(bytes, payloadEnd, TAIL)) return false;
    } else {
      payloadEnd = this.#beforeSid(bytes, end);
      if (payloadEnd < 0) return false;
    }
    if (!isAt(bytes, at, NEXT) || !isAt(bytes, at + NEXT.length, BODY)) return false;
    at = afterDigits(bytes, at + NEXT.length + BODY.length, end);
    if (!isAt(bytes, at, TIMESTAMP)) return false;
    const timestampAt = at + TIMESTAMP.length;
    at = afterDigits(bytes, timestampAt, end);
    if (at === timestampAt || !isAt(bytes, at, PAYLOAD)) return false;
    const count = decode(bytes, at + PAYLOAD.length, payloadEnd);
    if (count <= 0) return false;
    if (filled.length !== count) filled = payload.subarray(0, count);
    listener.onAudio(filled, digitsValue(bytes, timestampAt, at));
    return true;
  }

  /** Index after the stream's id, or -1 if it is not at `at`. */
  #afterSid(bytes: Uint8Array, at: number): number {
    return isAt(bytes, at, this.#sid) ? at + this.#sid.length : -1;
  }

  /** End index of the payload in a message that ends with the stream's id, or -1 if it does not. */
  #beforeSid(bytes: Uint8Array, end: number): number {
    const sidAt = end - TAIL_AFTER_SID.length - this.#sid.length;
    const tailAt = sidAt - SID_LAST.length;
    const isTail =
      isAt(bytes, sidAt, this.#sid) &&
      isAt(bytes, end - TAIL_AFTER_SID.length, TAIL_AFTER_SID) &&
      isAt(bytes, tailAt, SID_LAST);
    return isTail ? tailAt : -1;
  }
}

/** Bytes written to `payload`, or -1 if it is not entirely base64 (RFC 4648 §4). */
function decode(bytes: Uint8Array, from: number, end: number): number {
  if (end <= from || (end - from) % 4 !== 0) return -1;
  const padding = bytes[end - 1] !== PADDING ? 0 : bytes[end - 2] !== PADDING ? 1 : 2;
  const count = ((end - from) / 4) * 3 - padding;
  if (count > MEDIA_PAYLOAD_BYTES_MAX) return -1;
  if (count > payload.length) {
    payload = new Uint8Array(count);
    filled = payload;
  }
  const out = payload;
  let all = 0;
  let to = 0;
  const whole = padding === 0 ? end : end - 4;
  let i = from;
  for (; i < whole; i += 4) {
    const first = BASE64[bytes[i] as number] as number;
    const second = BASE64[bytes[i + 1] as number] as number;
    const third = BASE64[bytes[i + 2] as number] as number;
    const fourth = BASE64[bytes[i + 3] as number] as number;
    all |= first | second | third | fourth;
    out[to] = (first << 2) | (second >> 4);
    out[to + 1] = (second << 4) | (third >> 2);
    out[to + 2] = (third << 6) | fourth;
    to += 3;
  }
  if (padding > 0) {
    const first = BASE64[bytes[i] as number] as number;
    const second = BASE64[bytes[i + 1] as number] as number;
    const third = padding === 1 ? (BASE64[bytes[i + 2] as number] as number) : 0;
    all |= first | second | third;
    out[to] = (first << 2) | (second >> 4);
    if (padding === 1) out[to + 1] = (second << 4) | (third >> 2);
  }
  return all > 63 ? -1 : count;
}

function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}

/** Index after the run of at most DIGITS_MAX digits at `at`. */
function afterDigits(bytes: Uint8Array, at: number, end: number): number {
  const until = Math.min(at + DIGITS_MAX, end);
  let i = at;
  while (i < until && isDigit(bytes[i] as number)) i++;
  return i;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

function digitsValue(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + (bytes[i] as number) - 48;
  return value;
}
