// Encodes audio for Twilio as the bytes of its message, without a string, an object or new memory per message.
// `encodeAudio` of media.ts gives the same text.
// Source: twilio.com/docs/voice/media-streams/websocket-messages, RFC 4648 §4

/** Initial payload size of the buffer: 120 ms. */
const PAYLOAD_BYTES_USUAL = 960;
const HEAD_BYTES_USUAL = 128;
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 61; // =
const HEAD = '{"event":"media","streamSid":"';
const MIDDLE = '","media":{"payload":"';
const TAIL = '"}}';

/** Shared by all streams: a message is sent before the next one is encoded. */
let shared = Buffer.alloc(HEAD_BYTES_USUAL + textBytes(PAYLOAD_BYTES_USUAL));
/** The part of `shared` with the message, and the sizes of its layout; kept while the sizes stay. */
let message = shared;
let sidBytes = -1;
let payloadBytes = -1;

export class MediaMessageWriter {
  /** Short enough to be stored inside its object. */
  readonly #sid: Uint8Array;

  /** `streamSid` is plain ASCII. */
  constructor(streamSid: string) {
    this.#sid = Uint8Array.from(Buffer.from(streamSid, 'latin1'));
  }

  /** The whole message; borrowed until the next call for any stream. `payload` is borrowed until the call
   *  returns. */
  write(payload: Uint8Array): Uint8Array {
    const sid = this.#sid;
    if (sid.length !== sidBytes || payload.length !== payloadBytes) layOut(sid, payload);
    const out = shared;
    for (let i = 0; i < sid.length; i++) out[HEAD.length + i] = sid[i] as number;
    writeBase64(payload, out, HEAD.length + sid.length + MIDDLE.length);
    return message;
  }
}

/** Writes everything except the stream's id and the payload. */
function layOut(sid: Uint8Array, payload: Uint8Array): void {
  const middle = HEAD.length + sid.length;
  const end = middle + MIDDLE.length + textBytes(payload.length);
  const bytes = end + TAIL.length;
  if (bytes > shared.length) shared = Buffer.alloc(bytes);
  shared.write(HEAD, 0, 'latin1');
  shared.write(MIDDLE, middle, 'latin1');
  shared.write(TAIL, end, 'latin1');
  message = shared.subarray(0, bytes);
  sidBytes = sid.length;
  payloadBytes = payload.length;
}

function textBytes(payloadBytes: number): number {
  return Math.ceil(payloadBytes / 3) * 4;
}

function writeBase64(payload: Uint8Array, out: Buffer, from: number): void {
  const whole = payload.length - (payload.length % 3);
  let to = from;
  for (let i = 0; i < whole; i += 3) {
    const first = payload[i] as number;
    const second = payload[i + 1] as number;
    const third = payload[i + 2] as number;
    out[to] = ALPHABET[first >> 2] as number;
    out[to + 1] = ALPHABET[((first & 3) << 4) | (second >> 4)] as number;
    out[to + 2] = ALPHABET[((second & 15) << 2) | (third >> 6)] as number;
    out[to + 3] = ALPHABET[third & 63] as number;
    to += 4;
  }
  if (whole === payload.length) return;
  const first = payload[whole] as number;
  const isLast = whole + 1 === payload.length;
  const second = isLast ? 0 : (payload[whole + 1] as number);
  out[to] = ALPHABET[first >> 2] as number;
  out[to + 1] = ALPHABET[((first & 3) << 4) | (second >> 4)] as number;
  out[to + 2] = isLast ? PADDING : (ALPHABET[(second & 15) << 2] as number);
  out[to + 3] = PADDING;
}
