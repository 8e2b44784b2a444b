// Audio streams of Plivo and Vobiz: encodes and decodes the JSON messages of a bidirectional stream. Checkpoints are
// used by pipeline/speak/playout. There is no last message: the socket closes. Source: plivo.com/docs/voice/xml/stream,
// docs.vobiz.ai (stream events)

import assert from 'node:assert';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderName } from '../../model/provider.ts';
import { AudioMessageReader } from '../provider/audio-message-reader.ts';
import {
  AudioMessageLayout,
  AudioMessageWriter,
  base64Of,
} from '../provider/audio-message-writer.ts';
import { readEnvelope } from '../provider/json-envelope.ts';
import type { MediaProtocol } from '../provider/media-protocol.ts';
import type { AudioListener, MediaListener, MediaTraits } from '../provider/media-session.ts';
import { audioOfText } from '../provider/message-bytes.ts';

const id = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);
/** Milliseconds as a string of digits; a number is accepted too. */
const counter = z.union([z.string().regex(/^\d{1,15}$/), z.int().nonnegative()]);

const envelope = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('start'),
    start: z.object({
      callId: id,
      streamId: id,
      mediaFormat: z.object({
        encoding: z.string().max(64),
        sampleRate: z.union([z.int(), z.string().max(16)]),
      }),
    }),
  }),
  z.object({
    event: z.literal('media'),
    streamId: id.optional(),
    media: z.object({
      track: z.enum(['inbound', 'outbound']).default('inbound'),
      timestamp: counter.optional(),
      payload: z.string(),
    }),
  }),
  z.object({
    event: z.literal('dtmf'),
    streamId: id.optional(),
    dtmf: z.object({ digit: z.string().regex(/^[0-9A-D*#]$/) }),
  }),
  z.object({
    event: z.literal('playedStream'),
    streamId: id.optional(),
    name: z.string().max(255),
  }),
  z.object({ event: z.literal('clearedAudio'), streamId: id.optional() }),
  z.object({ event: z.literal('stop'), streamId: id.optional() }),
]);
const knownEvents = new Set(['start', 'media', 'dtmf', 'playedStream', 'clearedAudio', 'stop']);
type Envelope = z.infer<typeof envelope>;
type Start = Extract<Envelope, { event: 'start' }>['start'];
type Media = Extract<Envelope, { event: 'media' }>['media'];

export interface StreamMediaOptions {
  provider: ProviderName;
  /** Byte order of received linear audio. Both providers expect little endian. */
  linearIn: 'little-endian' | 'big-endian';
}

/** One socket's protocol. */
export function createStreamMedia(options: StreamMediaOptions): MediaProtocol {
  return new StreamMedia(options);
}

/** A clear takes effect at once, and checkpoints come late if much is sent ahead. */
const TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 },
};

/** Codec names by encoding and rate. */
const codecs: Readonly<Record<string, string>> = {
  'audio/x-mulaw/8000': 'PCMU',
  'audio/x-l16/8000': 'L16',
  'audio/x-l16/16000': 'L16/16000',
};

/** Writers of audio messages by format, shared by all streams: the messages do not name their stream. */
const audioMessages = new Map(
  Object.keys(codecs).map((format) => {
    const layout = new AudioMessageLayout({ head: audioHead(format), middle: '' });
    return [format, new AudioMessageWriter(layout, '')];
  }),
);

/** Start of an audio message. `format`: encoding and rate, as in `codecs`. */
function audioHead(format: string): string {
  const [, encoding, rate] = /^(.+)\/(\d+)$/.exec(format) ?? [];
  return `{"event":"playAudio","media":{"contentType":"${encoding}","sampleRate":${rate},"payload":"`;
}

class StreamMedia implements MediaProtocol {
  readonly traits = TRAITS;
  readonly #options: StreamMediaOptions;
  /** Id of the stream; undefined until `start`. */
  #streamId: string | undefined;
  readonly #audioMessages = new AudioMessageReader();
  #isSwapped = false;
  /** The first timestamp: Plivo's are wall clock times. */
  #firstMs: number | undefined;
  /** Prepared text around the changing parts of messages. */
  #audioHead = '';
  #audioText: AudioMessageWriter | undefined;
  #markHead = '';
  #clear = '';

  constructor(options: StreamMediaOptions) {
    this.#options = options;
  }

  decodeAscii(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    const reader = this.#audioMessages;
    if (!reader.read(bytes, from, end)) return false;
    if (this.#isSwapped) swapBytes(reader.audio);
    listener.onAudio(reader.audio, this.#timeOf(reader.timestampMs));
    return true;
  }

  decodeText(message: string, listener: MediaListener): void {
    const read = readEnvelope(message, envelope, knownEvents);
    if (read === undefined) return;
    if (!read.success) throw this.#malformed(message.length, read.error);
    this.#accept(read.data, listener, message);
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
    assert(this.#markHead !== '', 'a checkpoint before the stream has started');
    return `${this.#markHead}${JSON.stringify(name)}}`;
  }

  encodeClear(): string {
    assert(this.#clear !== '', 'a clear before the stream has started');
    return this.#clear;
  }

  #accept(message: Envelope, listener: MediaListener, text: string): void {
    const bytes = text.length;
    if (message.event === 'start') {
      if (this.#streamId !== undefined) throw this.#malformed(bytes);
      this.#start(message.start, listener);
      return;
    }
    // Vobiz may send audio before the start. It belongs to no stream yet, and the session drops it.
    const isOther = message.streamId !== undefined && message.streamId !== this.#streamId;
    if (isOther && this.#streamId !== undefined) throw this.#malformed(bytes);
    switch (message.event) {
      case 'media':
        this.#audio(message.media, listener, text);
        break;
      case 'dtmf':
        listener.onEvent({ type: 'digit', digit: message.dtmf.digit });
        break;
      case 'playedStream':
        listener.onEvent({ type: 'mark', name: message.name, outcome: 'played' });
        break;
      case 'clearedAudio': // The session has reported the marks behind it as dropped already.
        break;
      case 'stop':
        listener.onEvent({ type: 'closed', reason: 'ended' });
        break;
    }
  }

  #audio(media: Media, listener: MediaListener, text: string): void {
    if (media.track !== 'inbound') return;
    const payload = audioOfText(media.payload);
    if (payload === undefined) throw this.#malformed(text.length);
    if (payload.length === 0 || this.#streamId === undefined) return;
    const timestampMs = media.timestamp === undefined ? Number.NaN : Number(media.timestamp);
    this.#audioMessages.learn(text, { audio: payload, timestampMs });
    if (this.#isSwapped) swapBytes(payload);
    listener.onAudio(payload, this.#timeOf(timestampMs));
  }

  /** Milliseconds since the first audio; NaN without a timestamp. */
  #timeOf(timestampMs: number): number {
    if (Number.isNaN(timestampMs)) return Number.NaN;
    this.#firstMs ??= timestampMs;
    return timestampMs - this.#firstMs;
  }

  #start({ callId, streamId, mediaFormat }: Start, listener: MediaListener): void {
    const { encoding, sampleRate } = mediaFormat;
    const format = `${encoding}/${sampleRate}`;
    const codec = codecs[format];
    if (codec === undefined) throw new GatewayError('MEDIA_CODEC', { encoding: format });
    this.#streamId = streamId;
    this.#isSwapped = codec !== 'PCMU' && this.#options.linearIn === 'big-endian';
    this.#audioHead = audioHead(format);
    this.#audioText = audioMessages.get(format);
    this.#markHead = `{"event":"checkpoint","streamId":"${streamId}","name":`;
    this.#clear = `{"event":"clearAudio","streamId":"${streamId}"}`;
    const start = { callId, streamId, codecIn: codec, codecOut: codec, parameters: {} };
    listener.onEvent({ type: 'started', start });
  }

  #malformed(bytes: number, cause?: unknown): GatewayError {
    const { provider } = this.#options;
    return new GatewayError('MEDIA_MALFORMED', { provider, bytes }, cause);
  }
}

/** Swaps the bytes of each sample in place. Half a sample at the end is left unchanged. */
function swapBytes(payload: Buffer): void {
  payload.subarray(0, payload.length - (payload.length % 2)).swap16();
}
