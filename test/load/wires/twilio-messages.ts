// The messages of Twilio's media streams, which Cloudonix uses too.
// Source: twilio.com/docs/voice/media-streams/websocket-messages

import { z } from 'zod';
import type { JsonMessages, Sent } from './json-stream.ts';

/** Ten minutes. */
const BUFFER_MS_MAX = 600_000;

const incoming = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('media'),
    streamSid: z.string(),
    media: z.object({ payload: z.string() }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: z.string(),
    mark: z.object({ name: z.string() }),
  }),
  z.object({ event: z.literal('clear'), streamSid: z.string() }),
]);

/** Where a document names its stream. */
export const STREAM_URL = /<Stream\b[^>]*\burl="([^"]+)"/;

/** `start`: the facts of the first message, besides the stream's id. */
export function streamMessages(streamSid: string, start: object): JsonMessages {
  const numbered = (event: string, sequence: number, parts: object): object => ({
    event,
    sequenceNumber: String(sequence),
    streamSid,
    ...parts,
  });
  return {
    onClear: 'echo-marks',
    bufferMsMax: BUFFER_MS_MAX,
    payloadBytesMin: 1,
    audio: {
      text: `{"event":"media","sequenceNumber":"<sequence>","streamSid":"${streamSid}","media":{"track":"inbound","chunk":"<chunk>","timestamp":"<timestamp>","payload":"<payload>"}}`,
      firstMs: 0,
    },
    opening: (next) => [
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      numbered('start', next(), { start: { streamSid, ...start } }),
    ],
    sequence: 1,
    audioEvent: 'media',
    key: (digit, sequence) =>
      numbered('dtmf', sequence, { dtmf: { track: 'inbound_track', digit } }),
    played: (name, sequence) => numbered('mark', sequence, { mark: { name } }),
    stop: (sequence) => numbered('stop', sequence, { stop: {} }),
    read: (message) => sentOf(incoming.safeParse(message).data, streamSid),
  };
}

function sentOf(sent: z.infer<typeof incoming> | undefined, streamSid: string): Sent | undefined {
  if (sent?.streamSid !== streamSid) return undefined;
  if (sent.event === 'clear') return { type: 'clear' };
  if (sent.event === 'mark') return { type: 'mark', name: sent.mark.name };
  return { type: 'audio', payload: sent.media.payload };
}
