// Twilio Media Streams from Twilio's side, for many calls at once: audio messages laid out beforehand in
// which only numbers and payload change, and a reader that looks at the few bytes it needs.
// Source: twilio.com/docs/voice/media-streams/websocket-messages

import { createHmac } from 'node:crypto';
import { FRAME_MS } from './ear.ts';
import { HEADER_BYTES, writeTextHeader } from './media-client.ts';
import { FRAME_BYTES, readMarkInBase64, SCRATCH_BYTES } from './watermark.ts';

/** Frames of one message: five seconds. */
const FRAMES_MAX = 250;
const EVENT = '{"event":"';
const PAYLOAD = '"payload":"';
const QUOTE = 0x22;

/** X-Twilio-Signature over a URL and the fields of a form. */
export function twilioSignature(
  authToken: string,
  url: string,
  form: ReadonlyMap<string, string> = new Map(),
): string {
  const fields = [...form.keys()].sort().map((name) => `${name}${form.get(name) ?? ''}`);
  return createHmac('sha1', authToken)
    .update(url + fields.join(''))
    .digest('base64');
}

export function startMessage(of: {
  accountSid: string;
  callSid: string;
  streamSid: string;
  parameters: Readonly<Record<string, string>>;
}): string {
  const { accountSid, callSid, streamSid, parameters } = of;
  return JSON.stringify({
    event: 'start',
    sequenceNumber: '1',
    streamSid,
    start: {
      accountSid,
      streamSid,
      callSid,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 },
      customParameters: parameters,
    },
  });
}

/** One call's audio messages, each a whole websocket frame. */
export class AudioMessages {
  readonly #streamSid: string;
  #frame = 0;
  #sequence = 2;
  #template = Buffer.alloc(0);
  #sequenceEnd = 0;
  #chunkEnd = 0;
  #timestampEnd = 0;
  #payloadAt = 0;
  /** The numbers need another digit from here on. */
  #longer = { sequence: 0, frame: 0 };

  constructor(streamSid: string) {
    this.#streamSid = streamSid;
  }

  /** The sequence number of a message that is none of these. */
  takeSequence(): number {
    const taken = this.#sequence;
    this.#sequence += 1;
    return taken;
  }

  /** The next message, with `payload`: the base64 of 20 ms. The bytes are the caller's. */
  next(payload: Uint8Array): Buffer {
    if (this.#sequence >= this.#longer.sequence || this.#frame >= this.#longer.frame)
      this.#layOut();
    const message = Buffer.allocUnsafe(this.#template.length);
    message.set(this.#template);
    writeDigits(message, this.#sequenceEnd, this.#sequence);
    writeDigits(message, this.#chunkEnd, this.#frame + 1);
    if (this.#frame > 0) writeDigits(message, this.#timestampEnd, this.#frame * FRAME_MS);
    message.set(payload, this.#payloadAt);
    this.#frame += 1;
    this.#sequence += 1;
    return message;
  }

  #layOut(): void {
    const payloadCharacters = Math.ceil(FRAME_BYTES / 3) * 4;
    const head = `${EVENT}media","sequenceNumber":"${this.#sequence}`;
    const chunk = `${head}","streamSid":"${this.#streamSid}","media":{"track":"inbound","chunk":"${this.#frame + 1}`;
    const timestamp = `${chunk}","timestamp":"${this.#frame * FRAME_MS}`;
    const text = `${timestamp}",${PAYLOAD}${'A'.repeat(payloadCharacters)}"}}`;
    this.#template = Buffer.alloc(HEADER_BYTES + text.length);
    writeTextHeader(this.#template, text.length);
    this.#template.write(text, HEADER_BYTES, 'latin1');
    this.#sequenceEnd = HEADER_BYTES + head.length;
    this.#chunkEnd = HEADER_BYTES + chunk.length;
    this.#timestampEnd = HEADER_BYTES + timestamp.length;
    this.#payloadAt = this.#timestampEnd + 2 + PAYLOAD.length;
    this.#longer = {
      sequence: 10 ** String(this.#sequence).length,
      frame: Math.min(
        10 ** String(this.#frame + 1).length - 1,
        Math.ceil(10 ** String(this.#frame * FRAME_MS).length / FRAME_MS),
      ),
    };
  }
}

/** Writes `value` so that its last digit stands before `end`. */
function writeDigits(bytes: Uint8Array, end: number, value: number): void {
  let rest = value;
  for (let at = end - 1; rest > 0; at--) {
    const digit = rest % 10;
    bytes[at] = 48 + digit;
    rest = (rest - digit) / 10;
  }
}

export interface GatewayListener {
  /** Marks of the message's frames, -1 where there is none; borrowed. */
  onAudio(marks: Int32Array, count: number): void;
  onMark(name: string): void;
  onClear(): void;
  /** A message that is none of Twilio's. */
  onFault(): void;
}

/** Reads what a gateway sends. One serves any number of calls. */
export class GatewayReader {
  readonly #marks = new Int32Array(FRAMES_MAX);
  readonly #at = { byte: 0, scratch: new Uint8Array(SCRATCH_BYTES) };
  /** Where the payload began in the last audio message. */
  #payloadAt = 0;

  /** The message is bytes `from` to `to` of `chunk`. */
  read(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    const payloadFrom = this.#findPayload(chunk, from, to);
    if (payloadFrom < 0) this.#readRare(chunk.toString('utf8', from, to), listener);
    else this.#readAudio(chunk, payloadFrom, to, listener);
  }

  /** Where the base64 of an audio message in the usual form begins; -1 for any other message. */
  #findPayload(chunk: Buffer, from: number, to: number): number {
    // {"event":"me
    if (chunk[from + EVENT.length] !== 0x6d || chunk[from + EVENT.length + 1] !== 0x65) return -1;
    const usual = from + this.#payloadAt;
    if (this.#payloadAt > 0 && usual < to && isPayloadStart(chunk, usual)) return usual;
    const found = chunk.indexOf(PAYLOAD, from, 'latin1');
    if (found < 0 || found + PAYLOAD.length >= to) return -1;
    this.#payloadAt = found + PAYLOAD.length - from;
    return found + PAYLOAD.length;
  }

  #readAudio(chunk: Buffer, from: number, to: number, listener: GatewayListener): void {
    const end = chunk.indexOf(QUOTE, from);
    if (end < 0 || end > to) {
      listener.onFault();
      return;
    }
    const padding = Number(chunk[end - 1] === 0x3d) + Number(chunk[end - 2] === 0x3d);
    const bytes = ((end - from) / 4) * 3 - padding;
    const count = Math.min(FRAMES_MAX, Math.round(bytes / FRAME_BYTES));
    for (let i = 0; i < count; i++) {
      this.#at.byte = i * FRAME_BYTES;
      this.#marks[i] = readMarkInBase64(chunk, from, this.#at);
    }
    listener.onAudio(this.#marks, count);
  }

  #readRare(text: string, listener: GatewayListener): void {
    const message = parse(text);
    const event = message?.['event'];
    if (event === 'clear') {
      listener.onClear();
    } else if (event === 'mark') {
      const mark = message?.['mark'];
      const name = isRecord(mark) ? mark['name'] : undefined;
      if (typeof name === 'string') listener.onMark(name);
      else listener.onFault();
    } else if (event === 'media') {
      const media = message?.['media'];
      const payload = isRecord(media) ? media['payload'] : undefined;
      const bytes = Buffer.from(`${String(payload ?? '')}"`, 'latin1');
      this.#readAudio(bytes, 0, bytes.length, listener);
    } else {
      listener.onFault();
    }
  }
}

function isPayloadStart(chunk: Buffer, at: number): boolean {
  // d":"
  return (
    chunk[at - 1] === QUOTE &&
    chunk[at - 2] === 0x3a &&
    chunk[at - 3] === QUOTE &&
    chunk[at - 4] === 0x64
  );
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined; // Told as a fault.
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
