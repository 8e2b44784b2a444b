// Telnyx' media streaming: encodes and decodes the JSON messages of a bidirectional RTP stream. Incoming audio may have
// another codec than outgoing audio. Source: developers.telnyx.com, media streaming over websockets; providers §2.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
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

/** Codecs by Telnyx' name and clock rate. G.722 has a clock of 8 kHz by RFC 3551, and 16 kHz of audio. */
const codecsIn: ReadonlyMap<string, string> = new Map([
  ['PCMU/8000', 'PCMU'],
  ['PCMA/8000', 'PCMA'],
  ['G722/8000', 'G722'],
  ['G722/16000', 'G722'],
]);

const id = z.string().min(1).max(255);
/** Counters are strings of digits; a number is accepted too. */
const counter = z.union([z.string().regex(/^\d{1,15}$/), z.int().nonnegative()]);

const envelope = z.discriminatedUnion('event', [
  z.object({ event: z.literal('connected') }),
  z.object({
    event: z.literal('start'),
    stream_id: id,
    start: z.object({
      call_control_id: id,
      media_format: z.object({
        encoding: z.string().max(64),
        sample_rate: z.union([z.int(), z.string().max(16)]),
        channels: z.union([z.int(), z.string().max(16)]).default(1),
      }),
      custom_parameters: z.record(z.string(), z.string()).nullish(),
    }),
  }),
  z.object({
    event: z.literal('media'),
    stream_id: id,
    media: z.object({
      track: z.enum(['inbound', 'outbound']).default('inbound'),
      timestamp: counter.optional(),
      payload: z.string(),
    }),
  }),
  z.object({
    event: z.literal('dtmf'),
    stream_id: id,
    dtmf: z.object({ digit: z.string().regex(/^[0-9A-D*#]$/) }),
  }),
  z.object({ event: z.literal('mark'), mark: z.object({ name: z.string().max(255) }) }),
  z.object({ event: z.literal('stop'), stream_id: id.optional() }),
  z.object({
    event: z.literal('error'),
    payload: z.object({ code: z.coerce.string().max(64), title: z.string().max(255).optional() }),
  }),
]);
const knownEvents = new Set(['connected', 'start', 'media', 'dtmf', 'mark', 'stop', 'error']);
type Envelope = z.infer<typeof envelope>;
type Start = Extract<Envelope, { event: 'start' }>;
type Media = Extract<Envelope, { event: 'media' }>['media'];

const AUDIO_HEAD = '{"event":"media","media":{"payload":"';
/** Writer of audio messages, shared by all streams: the messages do not name their stream. */
const audioMessages = new AudioMessageWriter(
  new AudioMessageLayout({ head: AUDIO_HEAD, middle: '' }),
  '',
);

/** A clear takes effect at once, so a short lead keeps barge-in short. */
const TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 },
};

export function createTelnyxMedia(): MediaProtocol {
  return new TelnyxMedia();
}

class TelnyxMedia implements MediaProtocol {
  readonly traits = TRAITS;
  /** Id of the stream; undefined until `start`. */
  #streamId: string | undefined;
  readonly #audioMessages = new AudioMessageReader();

  decodeAscii(bytes: Uint8Array, from: number, end: number, listener: AudioListener): boolean {
    const reader = this.#audioMessages;
    if (!reader.read(bytes, from, end)) return false;
    listener.onAudio(reader.audio, reader.timestampMs);
    return true;
  }

  decodeText(message: string, listener: MediaListener): void {
    const read = readEnvelope(message, envelope, knownEvents);
    if (read === undefined) return;
    if (!read.success) throw malformed({ bytes: message.length }, read.error);
    this.#accept(read.data, listener, message);
  }

  encodeAudio(payload: Uint8Array): string {
    return `${AUDIO_HEAD}${base64Of(payload)}"}}`;
  }

  encodeAscii(payload: Uint8Array): Uint8Array {
    return audioMessages.write(payload);
  }

  encodeMark(name: string): string {
    return JSON.stringify({ event: 'mark', mark: { name } });
  }

  encodeClear(): string {
    return '{"event":"clear"}';
  }

  #accept(message: Envelope, listener: MediaListener, text: string): void {
    const bytes = text.length;
    switch (message.event) {
      case 'connected':
        break;
      case 'start':
        this.#start(message, listener, bytes);
        break;
      case 'media':
        if (message.stream_id !== this.#streamId) throw malformed({ bytes });
        this.#audio(message.media, listener, text);
        break;
      case 'dtmf':
        if (message.stream_id !== this.#streamId) throw malformed({ bytes });
        listener.onEvent({ type: 'digit', digit: message.dtmf.digit });
        break;
      case 'mark':
        listener.onEvent({ type: 'mark', name: message.mark.name, outcome: 'played' });
        break;
      case 'stop':
        listener.onEvent({ type: 'closed', reason: 'ended' });
        break;
      case 'error':
        // Telnyx could not use our message.
        throw malformed({ bytes, telnyxError: message.payload.code });
    }
  }

  #audio(media: Media, listener: MediaListener, text: string): void {
    if (media.track !== 'inbound') return;
    const payload = audioOfText(media.payload);
    if (payload === undefined) throw malformed({ bytes: text.length });
    if (payload.length === 0) return;
    const timestampMs = media.timestamp === undefined ? Number.NaN : Number(media.timestamp);
    this.#audioMessages.learn(text, { audio: payload, timestampMs });
    listener.onAudio(payload, timestampMs);
  }

  #start({ start, stream_id: streamId }: Start, listener: MediaListener, bytes: number): void {
    if (this.#streamId !== undefined) throw malformed({ bytes });
    const { encoding, sample_rate: rate, channels } = start.media_format;
    const codecIn = codecsIn.get(`${encoding.toUpperCase()}/${rate}`);
    if (codecIn === undefined || Number(channels) !== 1) {
      throw new GatewayError('MEDIA_CODEC', { encoding: `${encoding}/${rate}/${channels}` });
    }
    this.#streamId = streamId;
    const ids = { callId: start.call_control_id, streamId };
    const parameters = start.custom_parameters ?? {};
    listener.onEvent({
      type: 'started',
      start: { ...ids, codecIn, codecOut: 'PCMU', parameters },
    });
  }
}

function malformed(facts: { bytes: number; telnyxError?: string }, cause?: unknown): GatewayError {
  return new GatewayError('MEDIA_MALFORMED', { provider: 'telnyx', ...facts }, cause);
}
