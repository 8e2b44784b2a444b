// Twilio's messages of one media stream; Cloudonix uses them too.

import twilio from 'twilio';
import { z } from 'zod';
import { fault, jsonOf, type StreamWire } from '../hosted/media-line.ts';
import { FRAME_MS } from '../hosted/timeline.ts';

const incoming = z.discriminatedUnion('event', [
  z.object({
    event: z.literal('media'),
    streamSid: z.string(),
    media: z.object({ payload: z.base64() }),
  }),
  z.object({
    event: z.literal('mark'),
    streamSid: z.string(),
    mark: z.object({ name: z.string() }),
  }),
  z.object({ event: z.literal('clear'), streamSid: z.string() }),
]);

export interface TwilioStream {
  accountSid: string;
  callSid: string;
  streamSid: string;
  parameters: Record<string, string>;
  /** Further facts of `start`. */
  facts?: Record<string, unknown>;
}

export function upgradeHeaders(authToken: string, url: string): Record<string, string> {
  return {
    ['X-Twilio-Signature']: twilio.getExpectedTwilioSignature(authToken, url, {}),
    ['User-Agent']: 'Twilio.TmeWs/1.0',
  };
}

export function twilioWire(stream: TwilioStream): StreamWire {
  const { accountSid, callSid, streamSid, parameters, facts } = stream;
  let sequence = 0;
  function message(event: string, parts: Record<string, unknown>): string {
    sequence += 1;
    return JSON.stringify({ event, sequenceNumber: String(sequence), ...parts, streamSid });
  }
  return {
    opening: () => [
      JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }),
      message('start', {
        start: {
          accountSid,
          streamSid,
          callSid,
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
          customParameters: parameters,
          ...facts,
        },
      }),
    ],
    audio: (frame, index) =>
      message('media', {
        media: {
          track: 'inbound',
          chunk: String(index + 1),
          timestamp: String(index * FRAME_MS),
          payload: Buffer.from(frame).toString('base64'),
        },
      }),
    digit: (digit) => message('dtmf', { dtmf: { track: 'inbound_track', digit } }),
    mark: (name) => message('mark', { mark: { name } }),
    onClear: 'echo-marks',
    cleared: () => undefined,
    stop: () => message('stop', { stop: { accountSid, callSid } }),
    read(data, isBinary) {
      const read = isBinary ? undefined : incoming.safeParse(jsonOf(data));
      if (!read?.success || read.data.streamSid !== streamSid) return fault(data);
      const { data: sent } = read;
      if (sent.event === 'clear') return { type: 'clear' };
      if (sent.event === 'mark') return { type: 'mark', name: sent.mark.name };
      return { type: 'audio', mulaw: Buffer.from(sent.media.payload, 'base64') };
    },
  };
}
