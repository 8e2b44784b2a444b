// Twilio Media Streams: encodes and decodes the JSON messages of a bidirectional stream. It translates and never
// acts; the use of marks is pipeline/speak/playout's.
// Source: twilio.com/docs/voice/media-streams/websocket-messages

import assert from 'node:assert';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import type { MediaProtocol } from '../provider/media-protocol.ts';
import type { AudioListener, MediaListener, MediaTraits } from '../provider/media-session.ts';
import { MEDIA_PAYLOAD_BYTES_MAX, MediaMessageReader } from './media-message-reader.ts';
import { MediaMessageWriter } from './media-message-writer.ts';

/** One second of audio: the initial size of the buffer. */
const PAYLOAD_BYTES_USUAL = 8_000;
/** Buffer for payloads before encoding, shared by all streams. */
let outgoing = Buffer.alloc(PAYLOAD_BYTES_USUAL);

const sid = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
/** Counters are strings of digits; a number is accepted too. */
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

/** One socket's protocol. Audio messages in the fixed form are decoded from the bytes; any other goes through
 *  JSON and the schema, with the same result. */
export function createTwilioMedia(): MediaProtocol {
  return new TwilioMedia();
}

/** A clear takes effect at once, so a short lead keeps barge-in short. */
const TRAITS: MediaTraits = {
  marks: true,
  callAfterClose: 'ends',
  leadMs: { aim: 60, max: 160, step: 80 },
};

class TwilioMedia implements MediaProtocol {
  readonly traits = TRAITS;
  /** Undefined until `start`; so is the reader of its audio messages. */
  #streamSid: string | undefined;
  #audioMessages: MediaMessageReader | undefined;
  #audioText: MediaMessageWriter | undefined;
  /** Prepared text around the changing parts of messages, with this stream's id in it. */
  #audioHead = '';
  #markHead = '';
  #clear = '';

  decodeAscii(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    return this.#audioMessages?.read(bytes, from, end, listener) ?? false;
  }

  decodeText(message: string, listener: MediaListener): void {
    const json = parseJson(message);
    const known = envelope.safeParse(json);
    if (known.success) {
      this.#accept(known.data, listener, message.length);
      return;
    }
    const event = anyEvent.safeParse(json);
    if (!event.success || knownEvents.has(event.data.event)) {
      throw malformed(message.length, known.error);
    } // An event of a later version of the protocol is ignored.
  }

  decodeBinary(message: Uint8Array): void {
    throw malformed(message.length);
  }

  encodeAudio(payload: Uint8Array): string {
    assert(this.#audioHead !== '', 'audio before the stream has started');
    if (payload.length > outgoing.length) outgoing = Buffer.alloc(payload.length);
    outgoing.set(payload);
    return `${this.#audioHead}${outgoing.toString('base64', 0, payload.length)}"}}`;
  }

  encodeAscii(payload: Uint8Array): Uint8Array {
    assert(this.#audioText !== undefined, 'audio before the stream has started');
    return this.#audioText.write(payload);
  }

  encodeMark(name: string): string {
    assert(this.#markHead !== '', 'a mark before the stream has started');
    return `${this.#markHead}${JSON.stringify(name)}}}`;
  }

  encodeClear(): string {
    assert(this.#clear !== '', 'a clear before the stream has started');
    return this.#clear;
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
        listener.onEvent({ type: 'digit', digit: message.dtmf.digit });
        break;
      case 'mark':
        listener.onEvent({ type: 'mark', name: message.mark.name, outcome: 'played' });
        break;
      case 'stop':
        listener.onEvent({ type: 'closed', reason: 'ended' });
        break;
    }
  }

  #audio(
    media: Extract<Envelope, { event: 'media' }>['media'],
    listener: MediaListener,
    bytes: number,
  ): void {
    if (media.track !== 'inbound') return;
    const payload = decodeBase64(media.payload);
    if (payload === undefined) throw malformed(bytes);
    if (payload.length === 0) return;
    const timestampMs = media.timestamp === undefined ? Number.NaN : Number(media.timestamp);
    listener.onAudio(payload, timestampMs);
  }

  #start(message: Start, listener: MediaListener): void {
    const { callSid, customParameters, mediaFormat } = message.start;
    const { encoding, sampleRate, channels } = mediaFormat;
    if (encoding !== 'audio/x-mulaw' || Number(sampleRate) !== 8_000 || Number(channels) !== 1) {
      throw new GatewayError('MEDIA_CODEC', { encoding: `${encoding}/${sampleRate}/${channels}` });
    }
    const { streamSid } = message;
    this.#streamSid = streamSid;
    this.#audioMessages = new MediaMessageReader(streamSid);
    this.#audioHead = `{"event":"media","streamSid":"${streamSid}","media":{"payload":"`;
    this.#audioText = new MediaMessageWriter(streamSid);
    this.#markHead = `{"event":"mark","streamSid":"${streamSid}","mark":{"name":`;
    this.#clear = `{"event":"clear","streamSid":"${streamSid}"}`;
    const codecs = { codecIn: 'PCMU', codecOut: 'PCMU' };
    const ids = { callId: callSid, streamId: streamSid };
    const start = { ...ids, ...codecs, parameters: customParameters };
    listener.onEvent({ type: 'started', start });
  }
}

/** Undefined if `text` is not entirely base64, or longer than a message allows. */
function decodeBase64(text: string): Uint8Array | undefined {
  const padding = Number(text.endsWith('=')) + Number(text.endsWith('=='));
  const bytes = (text.length / 4) * 3 - padding;
  if (text.length % 4 !== 0 || bytes > MEDIA_PAYLOAD_BYTES_MAX) return undefined;
  // Node skips characters outside the alphabet, so the result has fewer bytes.
  const payload = Buffer.from(text, 'base64');
  return payload.length === bytes ? payload : undefined;
}

function malformed(bytes: number, cause?: unknown): GatewayError {
  return new GatewayError('MEDIA_MALFORMED', { provider: 'twilio', bytes }, cause);
}
