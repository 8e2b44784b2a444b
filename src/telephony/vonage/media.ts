// Vonage's media socket: audio in binary messages of exactly 20 ms, everything else in JSON. Vonage drops the socket
// for a message of another size. Source: developer.vonage.com/en/voice/voice-api/concepts/websockets

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { readEnvelope } from '../provider/json-envelope.ts';
import type { MediaProtocol } from '../provider/media-protocol.ts';
import type { AudioListener, MediaListener, MediaTraits } from '../provider/media-session.ts';

/** Longest binary message: a second of wideband audio. Vonage sends 20 ms. */
const AUDIO_BYTES_MAX = 48_000;
/** Most headers of a stream. Vonage sends a handful. */
const PARAMETERS_MAX = 50;

const connected = z.looseObject({
  event: z.literal('websocket:connected'),
  'content-type': z.string().max(100),
  call_uuid: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
});
const envelope = z.discriminatedUnion('event', [
  connected,
  z.object({ event: z.literal('websocket:dtmf'), digit: z.string().regex(/^[0-9A-D*#]$/) }),
  z.object({
    event: z.literal('websocket:notify'),
    payload: z.object({ id: z.string().max(255) }),
  }),
  z.object({ event: z.literal('websocket:cleared') }),
]);
const knownEvents: ReadonlySet<string> = new Set([
  'websocket:connected',
  'websocket:dtmf',
  'websocket:notify',
  'websocket:cleared',
]);

const codecs: Readonly<Record<string, string>> = { '8000': 'L16', '16000': 'L16/16000' };

/** A clear takes effect at once, so a short lead keeps barge-in short. Frame by frame the lead falls half a frame below
 *  its aim: the far end has at least 80 ms. */
const TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 90, maxMs: 160, stallMsMax: 160, stepMs: 20 },
};

/** One socket's protocol. */
export function createVonageMedia(): MediaProtocol {
  return new VonageMedia();
}

class VonageMedia implements MediaProtocol {
  readonly traits = TRAITS;
  #isStarted = false;

  decodeText(message: string, listener: MediaListener): void {
    const read = readEnvelope(message, envelope, knownEvents);
    if (read === undefined) return;
    if (!read.success) throw malformed(message.length, read.error);
    this.#accept(read.data, listener, message.length);
  }

  decodeBinary(message: Uint8Array, listener: AudioListener): void {
    const { length } = message;
    if (length === 0) return;
    if (length % 2 !== 0 || length > AUDIO_BYTES_MAX) throw malformed(length);
    listener.onAudio(message, Number.NaN);
  }

  encodeAudio(payload: Uint8Array): Uint8Array {
    return payload;
  }

  encodeMark(name: string): string {
    return JSON.stringify({ action: 'notify', payload: { id: name } });
  }

  encodeClear(): string {
    return '{"action":"clear"}';
  }

  #accept(message: z.infer<typeof envelope>, listener: MediaListener, bytes: number): void {
    switch (message.event) {
      case 'websocket:connected':
        if (this.#isStarted) throw malformed(bytes);
        this.#isStarted = true;
        start(message, listener);
        break;
      case 'websocket:dtmf':
        listener.onEvent({ type: 'digit', digit: message.digit });
        break;
      case 'websocket:notify':
        listener.onEvent({ type: 'mark', name: message.payload.id, outcome: 'played' });
        break;
      case 'websocket:cleared':
        break; // The session has dropped the marks.
    }
  }
}

function start(message: z.infer<typeof connected>, listener: MediaListener): void {
  const { 'content-type': contentType, call_uuid: callId, event: _event, ...more } = message;
  const rate = /^audio\/l16\s*;\s*rate=(\d{4,6})$/i.exec(contentType)?.[1] ?? '';
  const codec = codecs[rate];
  if (codec === undefined) throw new GatewayError('MEDIA_CODEC', { encoding: contentType });
  const parameters = Object.fromEntries(
    Object.entries(more)
      .filter((each): each is [string, string] => typeof each[1] === 'string')
      .slice(0, PARAMETERS_MAX),
  );
  const ids = { callId, streamId: callId };
  const started = { ...ids, codecIn: codec, codecOut: codec, parameters };
  listener.onEvent({ type: 'started', start: started });
}

function malformed(bytes: number, cause?: unknown): GatewayError {
  return new GatewayError('MEDIA_MALFORMED', { provider: 'vonage', bytes }, cause);
}
