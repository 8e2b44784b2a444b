// Encodes audio for a provider as the bytes of its JSON message, without a string, an object or new memory per message.
// `encodeAudio` of the provider's media.ts gives the same text. Source: RFC 4648 §4.

/** Initial payload size of the buffer: 120 ms. */
const PAYLOAD_BYTES_USUAL = 960;
const HEAD_BYTES_USUAL = 128;
const ALPHABET = Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/');
const PADDING = 61; // =
const TAIL = '"}}';

/** Text of a provider's messages before the payload: `head`, the stream's id, `middle`. Plain ASCII. */
export interface AudioMessageForm {
  head: string;
  middle: string;
}

/** The messages of one form. Their buffer is shared by all streams: a message is sent before the next one is encoded. */
export class AudioMessageLayout {
  readonly #form: AudioMessageForm;
  #shared = Buffer.alloc(HEAD_BYTES_USUAL + textBytes(PAYLOAD_BYTES_USUAL));
  /** The part of `#shared` with the message, and the sizes of its layout; kept while the sizes stay. */
  #message = this.#shared;
  #idBytes = -1;
  #payloadBytes = -1;

  constructor(form: AudioMessageForm) {
    this.#form = form;
  }

  /** The whole message; borrowed until the next call for any stream. `payload` is borrowed until the call returns. */
  write(id: Uint8Array, payload: Uint8Array): Uint8Array {
    if (id.length !== this.#idBytes || payload.length !== this.#payloadBytes) {
      this.#layOut(id.length, payload.length);
    }
    const { head, middle } = this.#form;
    const out = this.#shared;
    for (let i = 0; i < id.length; i++) out[head.length + i] = id[i] as number;
    writeBase64(payload, out, head.length + id.length + middle.length);
    return this.#message;
  }

  /** Writes everything except the stream's id and the payload. */
  #layOut(idBytes: number, payloadBytes: number): void {
    const { head, middle } = this.#form;
    const middleAt = head.length + idBytes;
    const end = middleAt + middle.length + textBytes(payloadBytes);
    const bytes = end + TAIL.length;
    if (bytes > this.#shared.length) this.#shared = Buffer.alloc(bytes);
    this.#shared.write(head, 0, 'latin1');
    this.#shared.write(middle, middleAt, 'latin1');
    this.#shared.write(TAIL, end, 'latin1');
    this.#message = this.#shared.subarray(0, bytes);
    this.#idBytes = idBytes;
    this.#payloadBytes = payloadBytes;
  }
}

/** One stream's messages. */
export class AudioMessageWriter {
  readonly #layout: AudioMessageLayout;
  /** Short enough to be stored inside its object. */
  readonly #id: Uint8Array;

  /** `id` is plain ASCII; empty where messages do not name the stream. */
  constructor(layout: AudioMessageLayout, id: string) {
    this.#layout = layout;
    this.#id = Uint8Array.from(Buffer.from(id, 'latin1'));
  }

  /** Writes one message, as `AudioMessageLayout.write` does. */
  write(payload: Uint8Array): Uint8Array {
    return this.#layout.write(this.#id, payload);
  }
}

/** One second of the widest audio: the initial size of the buffer. */
const OUTGOING_BYTES_USUAL = 16_000;
/** Payload before encoding, shared by all streams. */
let outgoing = Buffer.alloc(OUTGOING_BYTES_USUAL);

/** Base64 of `payload`, for messages that are sent as text. A socket that takes bytes gets those of
 *  `AudioMessageWriter`. */
export function base64Of(payload: Uint8Array): string {
  if (payload.length > outgoing.length) outgoing = Buffer.alloc(payload.length);
  outgoing.set(payload);
  return outgoing.toString('base64', 0, payload.length);
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
