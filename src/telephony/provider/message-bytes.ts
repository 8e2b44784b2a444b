// The changing parts of audio messages in JSON, read directly from the socket's bytes without a string or an object:
// base64 and digits. Source: RFC 4648 §4.

/** Payload bytes of one message. Providers send 160 to 640; more than this is not telephone audio. */
const PAYLOAD_BYTES_MAX = 48 * 1024;
/** One second of audio: the initial size of the buffer. */
const PAYLOAD_BYTES_USUAL = 8_000;
/** Digits of a counter or of milliseconds that a number holds exactly. */
const DIGITS_MAX = 15;
const PADDING = 61; // =

/** Value of each base64 character; any other has bits above the lowest six. */
const BASE64 = new Uint8Array(256).fill(0xff);
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
for (let i = 0; i < ALPHABET.length; i++) BASE64[ALPHABET.charCodeAt(i)] = i;

/** Decoded payload, shared by all streams: the listener is done with one before the next message is decoded. */
let payload = Buffer.alloc(PAYLOAD_BYTES_USUAL);
/** The used part of `payload`; kept while the size stays. */
let filled = payload.subarray(0, 0);

/** The audio in `bytes` from `from` to `end`, borrowed until the next call; undefined if that is empty, not entirely
 *  base64 or too long. */
export function audioOfBase64(bytes: Uint8Array, from: number, end: number): Buffer | undefined {
  const count = decode(bytes, from, end);
  if (count <= 0) return undefined;
  if (filled.length !== count) filled = payload.subarray(0, count);
  return filled;
}

/** The audio of base64 in `text`; undefined if it is not entirely base64, or longer than a message allows. */
export function audioOfText(text: string): Buffer | undefined {
  const padding = Number(text.endsWith('=')) + Number(text.endsWith('=='));
  const bytes = (text.length / 4) * 3 - padding;
  if (text.length % 4 !== 0 || bytes > PAYLOAD_BYTES_MAX) return undefined;
  // Node skips characters outside the alphabet, so the result has fewer bytes.
  const decoded = Buffer.from(text, 'base64');
  return decoded.length === bytes ? decoded : undefined;
}

/** Index after the run of at most DIGITS_MAX digits at `at`. */
export function afterDigits(bytes: Uint8Array, at: number, end: number): number {
  const until = Math.min(at + DIGITS_MAX, end);
  let i = at;
  while (i < until && isDigit(bytes[i] as number)) i++;
  return i;
}

function isDigit(byte: number): boolean {
  return byte >= 48 && byte <= 57;
}

export function digitsValue(bytes: Uint8Array, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + (bytes[i] as number) - 48;
  return value;
}

/** Bytes written to `payload`, or -1 if it is not entirely base64. */
function decode(bytes: Uint8Array, from: number, end: number): number {
  if (end <= from || (end - from) % 4 !== 0) return -1;
  const padding = bytes[end - 1] !== PADDING ? 0 : bytes[end - 2] !== PADDING ? 1 : 2;
  const count = ((end - from) / 4) * 3 - padding;
  if (count > PAYLOAD_BYTES_MAX) return -1;
  if (count > payload.length) {
    payload = Buffer.alloc(count);
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
