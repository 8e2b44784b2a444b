// Messages of one audio stream as Plivo and Vobiz send them.

import { z } from 'zod';
import { fault, jsonOf, type StreamWire } from '../hosted/media-line.ts';
import { FRAME_MS } from '../hosted/timeline.ts';

const incoming = z.discriminatedUnion('event', [
  z.strictObject({
    event: z.literal('playAudio'),
    media: z.strictObject({
      contentType: z.literal('audio/x-mulaw'),
      sampleRate: z.literal(8_000),
      payload: z.base64(),
    }),
  }),
  z.strictObject({ event: z.literal('checkpoint'), streamId: z.string(), name: z.string() }),
  z.strictObject({ event: z.literal('clearAudio'), streamId: z.string() }),
]);

export interface WireOptions {
  callId: string;
  streamId: string;
  accountId: string;
  /** Time stamps of audio begin with it: Plivo's are wall clock times. */
  firstMs: number;
  /** Audio that comes before the start. */
  earlyAudio: boolean;
  /** Whether `playedStream` and `clearedAudio` name the stream. */
  namesStream: boolean;
  bufferMsMax: number;
}

export function streamWire(options: WireOptions): StreamWire {
  const { callId, streamId, accountId, namesStream } = options;
  let sequence = 0;
  const message = (event: string, parts: Record<string, unknown>): string => {
    sequence += 1;
    return JSON.stringify({ sequenceNumber: sequence - 1, event, ...parts });
  };
  const named = namesStream ? { streamId } : {};
  const audio = (frame: Uint8Array, index: number): string =>
    message('media', {
      streamId,
      media: {
        track: 'inbound',
        timestamp: String(options.firstMs + index * FRAME_MS),
        chunk: index + 1,
        payload: Buffer.from(frame).toString('base64'),
      },
    });
  return {
    opening() {
      const early = options.earlyAudio ? [audio(new Uint8Array(160).fill(0xff), 0)] : [];
      const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8_000 };
      const start = { callId, streamId, accountId, tracks: ['inbound'], mediaFormat };
      return [...early, message('start', { start, extra_headers: '' })];
    },
    audio,
    digit: (digit) => message('dtmf', { streamId, dtmf: { track: 'inbound', digit } }),
    mark: (name) => message('playedStream', { ...named, name }),
    onClear: 'drop-marks',
    cleared: () => message('clearedAudio', named),
    stop: () => undefined,
    read(data, isBinary) {
      const read = isBinary ? undefined : incoming.safeParse(jsonOf(data));
      if (!read?.success) return fault(data);
      const { data: sent } = read;
      if (sent.event === 'playAudio') {
        return { type: 'audio', mulaw: Buffer.from(sent.media.payload, 'base64') };
      }
      if (sent.streamId !== streamId) return fault(data);
      return sent.event === 'clearAudio' ? { type: 'clear' } : { type: 'mark', name: sent.name };
    },
    bufferMsMax: options.bufferMsMax,
  };
}
