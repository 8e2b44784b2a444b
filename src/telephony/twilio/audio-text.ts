// Audio to Twilio as the bytes of its message: no string, no object, no new memory for each. `encodeAudio` of
// media.ts gives the same text.
// Source: twilio.com/docs/voice/media-streams/websocket-messages, RFC 4648 §4

/** Payload that the buffer begins with: 120 ms. */
const PAYLOAD_BYTES_USUAL = 960;
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 61; // =
const TAIL = Buffer.from('"}}');

export class AudioText {
  readonly #headBytes: number;
  #bytes: Buffer;
  /** The part of `#bytes` that is the message; kept while the size stays. */
  #message: Buffer;
  #payloadBytes = -1;

  /** `head`: the message up to its payload. */
  constructor(head: string) {
    this.#headBytes = head.length;
    this.#bytes = Buffer.alloc(head.length + textBytes(PAYLOAD_BYTES_USUAL) + TAIL.length);
    this.#bytes.write(head, 'latin1');
    this.#message = this.#bytes;
  }

  /** The whole message; borrowed until the next call. `payload` is borrowed until the call returns. */
  of(payload: Uint8Array): Uint8Array {
    if (payload.length !== this.#payloadBytes) this.#resize(payload.length);
    writeBase64(payload, this.#bytes, this.#headBytes);
    return this.#message;
  }

  #resize(payloadBytes: number): void {
    const end = this.#headBytes + textBytes(payloadBytes);
    const bytes = end + TAIL.length;
    if (bytes > this.#bytes.length) {
      const grown = Buffer.alloc(bytes);
      grown.set(this.#bytes.subarray(0, this.#headBytes));
      this.#bytes = grown;
    }
    this.#bytes.set(TAIL, end);
    this.#message = this.#bytes.subarray(0, bytes);
    this.#payloadBytes = payloadBytes;
  }
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
