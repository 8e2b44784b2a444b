// Media streams of Twilio and Cloudonix (`StreamDialect`): encodes and decodes the JSON messages of a bidirectional
// stream. An audio message in its usual fixed form is decoded from the socket's bytes, without a string or an object;
// any other is parsed as JSON, with the same result. Marks are used by pipeline/speak/playout. Source:
// twilio.com/docs/voice/media-streams/websocket-messages

import assert from 'node:assert';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import {
  AudioMessageLayout,
  AudioMessageWriter,
  base64Of,
} from '../provider/audio-message-writer.ts';
import { readEnvelope } from '../provider/json-envelope.ts';
import type { MediaProtocol } from '../provider/media-protocol.ts';
import type { AudioListener, MediaListener, MediaTraits } from '../provider/media-session.ts';
import { afterDigits, audioOfBase64, audioOfText, digitsValue } from '../provider/message-bytes.ts';

const sid = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
/** Counters are strings of digits; a number is accepted too. */
const counter = z.union([z.string().regex(/^\d{1,15}$/), z.int().nonnegative()]);

const startFacts = z.object({
  streamSid: sid.optional(),
  callSid: sid.optional(),
  session: sid.optional(),
  mediaFormat: z
    .object({
      encoding: z.string().max(64),
      sampleRate: z.union([z.int(), z.string().max(16)]),
      channels: z.union([z.int(), z.string().max(16)]),
    })
    .optional(),
  customParameters: z.record(z.string(), z.string()).default({}),
});

const envelope = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected') }),
  z.object({ event: z.literal('start'), streamSid: sid.optional(), start: startFacts }),
  z.object({
    event: z.literal('media'),
    streamSid: sid.optional(),
    media: z.object({
      track: z.enum(['inbound', 'outbound']).default('inbound'),
      timestamp: counter.optional(),
      payload: z.string(),
    }),
  }),
  z.object({
    event: z.literal('dtmf'),
    streamSid: sid.optional(),
    dtmf: z.object({ digit: z.string().regex(/^[0-9A-D*#]$/) }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: sid.optional(),
    mark: z.object({ name: z.string().max(255) }),
  }),
  z.object({ event: z.literal('stop'), streamSid: sid.optional() }),
]);
const knownEvents = new Set(['connected', 'start', 'media', 'dtmf', 'mark', 'stop']);
type Envelope = z.infer<typeof envelope>;
type Start = Extract<Envelope, { event: 'start' }>;

/** The differences between providers that use these messages. */
export interface StreamDialect {
  provider: ProviderName;
  /** Field of `start` with the call's id in the provider's REST interface. */
  callIdField: 'callSid' | 'session';
  /** Whether every message names the stream, and `start` its audio format. If not, a message without a stream belongs
   *  to the socket's only one, and a format without a name is mu-law at 8 kHz. */
  isComplete: boolean;
}

const AUDIO_HEAD = '{"event":"media","streamSid":"';
const AUDIO_MIDDLE = '","media":{"payload":"';
const audioLayout = new AudioMessageLayout({ head: AUDIO_HEAD, middle: AUDIO_MIDDLE });
const FORMAT = { encoding: 'audio/x-mulaw', sampleRate: 8_000, channels: 1 };

/** One socket's protocol. Audio messages in the fixed form are decoded from the bytes; any other goes through
 *  JSON and the schema, with the same result. */
export function createStreamMedia(dialect: StreamDialect): MediaProtocol {
  return new StreamMedia(dialect);
}

/** A clear takes effect at once, so a short lead keeps barge-in short. */
const TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 },
};

class StreamMedia implements MediaProtocol {
  readonly traits = TRAITS;
  readonly #dialect: StreamDialect;
  /** Id of the stream; undefined until `start`, as is the reader of its audio messages. */
  #streamSid: string | undefined;
  #audioMessages: MediaMessageReader | undefined;
  #audioText: AudioMessageWriter | undefined;
  /** Prepared text around the changing parts of messages, with this stream's id in it. */
  #audioHead = '';
  #markHead = '';
  #clear = '';

  constructor(dialect: StreamDialect) {
    this.#dialect = dialect;
  }

  decodeAscii(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    return this.#audioMessages?.read(bytes, from, end, listener) ?? false;
  }

  decodeText(message: string, listener: MediaListener): void {
    const read = readEnvelope(message, envelope, knownEvents);
    if (read === undefined) return;
    if (!read.success) throw this.#malformed(message.length, read.error);
    this.#accept(read.data, listener, message.length);
  }

  encodeAudio(payload: Uint8Array): string {
    assert(this.#audioHead !== '', 'audio before the stream has started');
    return `${this.#audioHead}${base64Of(payload)}"}}`;
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
      if (this.#streamSid !== undefined) throw this.#malformed(bytes);
      this.#start(message, listener, bytes);
      return;
    }
    if (!this.#isOurs(message.streamSid)) throw this.#malformed(bytes);
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
    const payload = audioOfText(media.payload);
    if (payload === undefined) throw this.#malformed(bytes);
    if (payload.length === 0) return;
    const timestampMs = media.timestamp === undefined ? Number.NaN : Number(media.timestamp);
    listener.onAudio(payload, timestampMs);
  }

  /** Whether a message after `start` belongs to this stream. */
  #isOurs(streamSid: string | undefined): boolean {
    const isUnnamed = streamSid === undefined && !this.#dialect.isComplete;
    return this.#streamSid !== undefined && (isUnnamed || streamSid === this.#streamSid);
  }

  #start(message: Start, listener: MediaListener, bytes: number): void {
    const { callIdField, isComplete } = this.#dialect;
    const { start } = message;
    const format = start.mediaFormat ?? (isComplete ? undefined : FORMAT);
    const streamSid = message.streamSid ?? (isComplete ? undefined : start.streamSid);
    const callId = start[callIdField];
    if (format === undefined || streamSid === undefined || callId === undefined) {
      throw this.#malformed(bytes);
    }
    const { encoding, sampleRate, channels } = format;
    if (encoding !== 'audio/x-mulaw' || Number(sampleRate) !== 8_000 || Number(channels) !== 1) {
      throw new GatewayError('MEDIA_CODEC', { encoding: `${encoding}/${sampleRate}/${channels}` });
    }
    this.#streamSid = streamSid;
    this.#audioMessages = new MediaMessageReader(streamSid);
    this.#audioHead = AUDIO_HEAD + streamSid + AUDIO_MIDDLE;
    this.#audioText = new AudioMessageWriter(audioLayout, streamSid);
    this.#markHead = `{"event":"mark","streamSid":"${streamSid}","mark":{"name":`;
    this.#clear = `{"event":"clear","streamSid":"${streamSid}"}`;
    const codecs = { codecIn: 'PCMU', codecOut: 'PCMU' };
    const facts = { callId, streamId: streamSid, ...codecs, parameters: start.customParameters };
    listener.onEvent({ type: 'started', start: facts });
  }

  #malformed(bytes: number, cause?: unknown): GatewayError {
    const { provider } = this.#dialect;
    return new GatewayError('MEDIA_MALFORMED', { provider, bytes }, cause);
  }
}

const HEAD = Buffer.from('{"event":"media","sequenceNumber":"');
const SID_FIRST = Buffer.from('","streamSid":"');
const SID_LAST = Buffer.from('"},"streamSid":"');
const NEXT = Buffer.from('",');
const BODY = Buffer.from('"media":{"track":"inbound","chunk":"');
const TIMESTAMP = Buffer.from('","timestamp":"');
const PAYLOAD = Buffer.from('","payload":"');
const TAIL = Buffer.from('"}}');
const TAIL_AFTER_SID = Buffer.from('"}');
class MediaMessageReader {
  /** Bytes of the stream's id, few enough to be stored inside their object. */
  readonly #sid: Uint8Array;

  constructor(streamSid: string) {
    this.#sid = Uint8Array.from(Buffer.from(streamSid, 'latin1'));
  }

  /** Decodes the message in `bytes` from `from` to `end`, borrowed. False if it is not the caller's audio in the fixed
   *  form; then nothing was reported. */
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
    const audio = audioOfBase64(bytes, at + PAYLOAD.length, payloadEnd);
    if (audio === undefined) return false;
    listener.onAudio(audio, digitsValue(bytes, timestampAt, at));
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

function isAt(bytes: Uint8Array, at: number, word: Uint8Array): boolean {
  for (let i = 0; i < word.length; i++) if (bytes[at + i] !== word[i]) return false;
  return true;
}
