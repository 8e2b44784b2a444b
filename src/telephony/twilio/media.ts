// Twilio Media Streams: the JSON envelope of a bidirectional stream, both ways. It translates and never
// acts; who is on the line and what marks mean is pipeline/playout's business.
// Source: twilio.com/docs/voice/media-streams/websocket-messages

import assert from 'node:assert';
import { z } from 'zod';
import { GatewayError } from '../../errors.ts';
import { parseJson } from '../../std/json.ts';
import type { MediaListener, MediaProtocol, MediaTraits } from '../media.ts';

/** Payload bytes of one message. Twilio sends 160; more than this is not telephone audio. */
const PAYLOAD_BYTES_MAX = 48 * 1024;
/** One second of audio: what the buffers begin with. */
const PAYLOAD_BYTES_USUAL = 8_000;
/** Digits of a counter or of milliseconds that a number holds exactly. */
const DIGITS_MAX = 15;

const MEDIA_HEAD = '{"event":"media","sequenceNumber":"';
const MEDIA_BODY = '"media":{"track":"inbound","chunk":"';
const TIMESTAMP = '","timestamp":"';
const PAYLOAD = '","payload":"';

const sid = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
/** Counters are strings of digits; a bare number is taken too. */
const counter = z.union([z.string().regex(/^\d{1,15}$/), z.int().nonnegative()]);

const envelope = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected') }),
  z.object({
    event: z.literal('start'),
    streamSid: sid,
    start: z.object({
      callSid: sid,
      mediaFormat: z.object({
        encoding: z.string().max(64),
        sampleRate: z.union([z.int(), z.string().max(16)]),
        channels: z.union([z.int(), z.string().max(16)]),
      }),
      customParameters: z.record(z.string(), z.string()).default({}),
    }),
  }),
  z.object({
    event: z.literal('media'),
    streamSid: sid,
    media: z.object({
      track: z.enum(['inbound', 'outbound']).default('inbound'),
      timestamp: counter.optional(),
      payload: z.string(),
    }),
  }),
  z.object({
    event: z.literal('dtmf'),
    streamSid: sid,
    dtmf: z.object({ digit: z.string().regex(/^[0-9A-D*#]$/) }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: sid,
    mark: z.object({ name: z.string().max(255) }),
  }),
  z.object({ event: z.literal('stop'), streamSid: sid }),
]);
const anyEvent = z.object({ event: z.string() });
const knownEvents = new Set(['connected', 'start', 'media', 'dtmf', 'mark', 'stop']);
type Envelope = z.infer<typeof envelope>;
type Start = Extract<Envelope, { event: 'start' }>;

/** One socket's protocol. The fixed form of an audio message is read in place; anything else goes
 *  through JSON and the schema, with the same result. */
export function createTwilioMedia(): MediaProtocol {
  return new TwilioMedia();
}

/** A clear is prompt, so a short lead keeps barge-in short. */
const TRAITS: MediaTraits = {
  marks: 'echo-on-clear',
  clear: true,
  leadMs: { aim: 100, max: 160, step: 60 },
};

class TwilioMedia implements MediaProtocol {
  readonly traits = TRAITS;
  /** Undefined until `start`. */
  #streamSid: string | undefined;
  /** The decoded payload of one message. */
  #payload = Buffer.alloc(PAYLOAD_BYTES_USUAL);
  /** The part of `#payload` that is filled; lent to the listener and kept while the size stays. */
  #filled = this.#payload.subarray(0, 0);
  /** Where outgoing payloads are laid for encoding. */
  #outgoing = Buffer.alloc(PAYLOAD_BYTES_USUAL);
  /** Prepared text around the changing parts of messages, with this stream's id in it. */
  #sidBeforeMedia = '';
  #sidAfterMedia = '';
  #audioHead = '';
  #markHead = '';
  #clear = '';

  decodeText(message: string, listener: MediaListener): void {
    if (this.#readAudio(message, listener)) return;
    const json = parseJson(message);
    const known = envelope.safeParse(json);
    if (known.success) {
      this.#accept(known.data, listener, message.length);
      return;
    }
    const event = anyEvent.safeParse(json);
    if (!event.success || knownEvents.has(event.data.event)) {
      throw malformed(message.length, known.error);
    } // An event that a later version of the protocol may bring is passed over.
  }

  decodeBinary(message: Uint8Array): void {
    throw malformed(message.length);
  }

  encodeAudio(payload: Uint8Array): string {
    assert(this.#audioHead !== '', 'audio before the stream has started');
    if (payload.length > this.#outgoing.length) this.#outgoing = Buffer.alloc(payload.length);
    this.#outgoing.set(payload);
    return `${this.#audioHead}${this.#outgoing.toString('base64', 0, payload.length)}"}}`;
  }

  encodeMark(name: string): string {
    assert(this.#markHead !== '', 'a mark before the stream has started');
    return `${this.#markHead}${JSON.stringify(name)}}}`;
  }

  encodeClear(): string {
    assert(this.#clear !== '', 'a clear before the stream has started');
    return this.#clear;
  }

  /** Reads `message` in place if it is an audio message in the form that Twilio writes. */
  #readAudio(message: string, listener: MediaListener): boolean {
    if (this.#streamSid === undefined || !message.startsWith(MEDIA_HEAD)) return false;
    let at = afterDigits(message, MEDIA_HEAD.length);
    let tail: string;
    if (message.startsWith(this.#sidBeforeMedia, at)) {
      at += this.#sidBeforeMedia.length;
      tail = '"}}';
    } else if (message.startsWith('",', at)) {
      at += 2;
      tail = this.#sidAfterMedia;
    } else {
      return false;
    }
    if (!message.startsWith(MEDIA_BODY, at)) return false;
    at = afterDigits(message, at + MEDIA_BODY.length);
    if (!message.startsWith(TIMESTAMP, at)) return false;
    const timestampAt = at + TIMESTAMP.length;
    at = afterDigits(message, timestampAt);
    if (at === timestampAt || !message.startsWith(PAYLOAD, at)) return false;
    const payloadAt = at + PAYLOAD.length;
    const payloadEnd = message.length - tail.length;
    if (payloadEnd <= payloadAt || !message.endsWith(tail)) return false;
    const bytes = this.#decodeBase64(message.slice(payloadAt, payloadEnd));
    if (bytes <= 0) return false;
    listener.onAudio(this.#lend(bytes), digitsValue(message, timestampAt, at));
    return true;
  }

  /** Bytes written to `#payload`, or -1 if `text` is not base64 in full. */
  #decodeBase64(text: string): number {
    const padding = Number(text.endsWith('=')) + Number(text.endsWith('=='));
    const bytes = (text.length / 4) * 3 - padding;
    if (text.length % 4 !== 0 || bytes > PAYLOAD_BYTES_MAX) return -1;
    if (bytes > this.#payload.length) {
      this.#payload = Buffer.alloc(bytes);
      this.#filled = this.#payload;
    }
    // Node passes over characters outside the alphabet, so they show as missing bytes.
    return this.#payload.write(text, 'base64') === bytes ? bytes : -1;
  }

  #lend(bytes: number): Uint8Array {
    if (this.#filled.length !== bytes) this.#filled = this.#payload.subarray(0, bytes);
    return this.#filled;
  }

  #accept(message: Envelope, listener: MediaListener, bytes: number): void {
    if (message.event === 'connected') return;
    if (message.event === 'start') {
      if (this.#streamSid !== undefined) throw malformed(bytes);
      this.#start(message, listener);
      return;
    }
    if (message.streamSid !== this.#streamSid) throw malformed(bytes);
    switch (message.event) {
      case 'media':
        this.#audio(message.media, listener, bytes);
        break;
      case 'dtmf':
        listener.onDigit(message.dtmf.digit);
        break;
      case 'mark':
        listener.onMark(message.mark.name);
        break;
      case 'stop':
        listener.onStop();
        break;
    }
  }

  #audio(
    media: Extract<Envelope, { event: 'media' }>['media'],
    listener: MediaListener,
    bytes: number,
  ): void {
    if (media.track !== 'inbound') return;
    const payloadBytes = this.#decodeBase64(media.payload);
    if (payloadBytes < 0) throw malformed(bytes);
    if (payloadBytes === 0) return;
    const timestampMs = media.timestamp === undefined ? Number.NaN : Number(media.timestamp);
    listener.onAudio(this.#lend(payloadBytes), timestampMs);
  }

  #start(message: Start, listener: MediaListener): void {
    const { callSid, customParameters, mediaFormat } = message.start;
    const { encoding, sampleRate, channels } = mediaFormat;
    if (encoding !== 'audio/x-mulaw' || Number(sampleRate) !== 8_000 || Number(channels) !== 1) {
      throw new GatewayError('MEDIA_CODEC', { encoding: `${encoding}/${sampleRate}/${channels}` });
    }
    const { streamSid } = message;
    this.#streamSid = streamSid;
    this.#sidBeforeMedia = `","streamSid":"${streamSid}",`;
    this.#sidAfterMedia = `"},"streamSid":"${streamSid}"}`;
    this.#audioHead = `{"event":"media","streamSid":"${streamSid}","media":{"payload":"`;
    this.#markHead = `{"event":"mark","streamSid":"${streamSid}","mark":{"name":`;
    this.#clear = `{"event":"clear","streamSid":"${streamSid}"}`;
    listener.onStart({
      callId: callSid,
      streamId: streamSid,
      codecIn: 'PCMU',
      codecOut: 'PCMU',
      parameters: customParameters,
    });
  }
}

/** Index after the run of at most DIGITS_MAX digits that begins at `at`. */
function afterDigits(text: string, at: number): number {
  const end = Math.min(at + DIGITS_MAX, text.length);
  let i = at;
  while (i < end && isDigit(text.charCodeAt(i))) i++;
  return i;
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function digitsValue(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) value = value * 10 + text.charCodeAt(i) - 48;
  return value;
}

function malformed(bytes: number, cause?: unknown): GatewayError {
  return new GatewayError('MEDIA_MALFORMED', { provider: 'twilio', bytes }, cause);
}
