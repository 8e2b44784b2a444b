// The answer webhook and the audio streams that Plivo and Vobiz have in common.
// Source: plivo.com/docs/voice/xml/stream, docs.vobiz.ai (stream events)

import { z } from 'zod';
import { digitsOf, secretOf } from './announcement.ts';
import { base64Of, type JsonMessages, type Sent } from './json-stream.ts';
import type { InboundCall } from './wire.ts';

const incoming = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('playAudio'),
    media: z.object({
      contentType: z.literal('audio/x-mulaw'),
      sampleRate: z.literal(8_000),
      payload: z.string(),
    }),
  }),
  z.object({ event: z.literal('checkpoint'), streamId: z.string(), name: z.string() }),
  z.object({ event: z.literal('clearAudio'), streamId: z.string() }),
]);

/** Where a document names its stream. */
export const STREAM_TEXT = /<Stream\b[^>]*>\s*([^<\s]+)\s*<\/Stream>/;

export function answerForm(call: InboundCall): Record<string, string> {
  const { credentials, callId, from, to } = call;
  return {
    ['ALegRequestUUID']: callId,
    ['ALegUUID']: callId,
    ['CallStatus']: 'ringing',
    ['CallUUID']: callId,
    ['Direction']: 'inbound',
    ['Event']: 'StartApp',
    ['From']: digitsOf(from),
    ['ParentAuthID']: secretOf(credentials, 'auth_id'),
    ['To']: digitsOf(to),
  };
}

export interface XmlStreamFacts {
  callId: string;
  accountId: string;
  bufferMsMax: number;
  /** The timestamp of the first audio. */
  firstMs: number;
  /** Audio comes before the start. */
  earlyAudio: boolean;
  /** Whether `playedStream` and `clearedAudio` name the stream. */
  namesStream: boolean;
}

export function xmlMessages(facts: XmlStreamFacts): JsonMessages {
  const { callId, accountId, firstMs, namesStream } = facts;
  const streamId = `s-${callId}`;
  const named = namesStream ? { streamId } : {};
  const start = (sequenceNumber: number): object => ({
    sequenceNumber,
    event: 'start',
    start: {
      callId,
      streamId,
      accountId,
      tracks: ['inbound'],
      mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8_000 },
    },
    ['extra_headers']: '',
  });
  const early = (sequenceNumber: number): object => {
    const payload = Buffer.from(base64Of(new Uint8Array(160).fill(0xff))).toString('latin1');
    const media = { track: 'inbound', timestamp: String(firstMs), chunk: 1, payload };
    return { sequenceNumber, event: 'media', streamId, media };
  };
  return {
    onClear: 'drop-marks',
    bufferMsMax: facts.bufferMsMax,
    payloadBytesMin: 1,
    audio: {
      text: `{"sequenceNumber":<sequence>,"event":"media","streamId":"${streamId}","media":{"track":"inbound","timestamp":"<timestamp>","chunk":<chunk>,"payload":"<payload>"}}`,
      firstMs,
    },
    opening: (next) => [...(facts.earlyAudio ? [early(next())] : []), start(next())],
    sequence: 0,
    audioEvent: 'playAudio',
    key: (digit, sequenceNumber) => ({
      sequenceNumber,
      event: 'dtmf',
      streamId,
      dtmf: { track: 'inbound', digit },
    }),
    played: (name, sequenceNumber) => ({ sequenceNumber, event: 'playedStream', ...named, name }),
    cleared: (sequenceNumber) => ({ sequenceNumber, event: 'clearedAudio', ...named }),
    read: (message) => sentOf(incoming.safeParse(message).data, streamId),
  };
}

function sentOf(sent: z.infer<typeof incoming> | undefined, streamId: string): Sent | undefined {
  if (sent === undefined) return undefined;
  if (sent.event === 'playAudio') return { type: 'audio', payload: sent.media.payload };
  if (sent.streamId !== streamId) return undefined;
  return sent.event === 'clearAudio' ? { type: 'clear' } : { type: 'mark', name: sent.name };
}
