// Telnyx' messages of one media stream.

import { z } from 'zod';
import { fault, jsonOf, type StreamWire } from '../hosted/media-line.ts';
import { FRAME_MS } from '../hosted/timeline.ts';

const incoming = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('media'), media: z.strictObject({ payload: z.base64() }) }),
  z.strictObject({ event: z.literal('mark'), mark: z.strictObject({ name: z.string() }) }),
  z.strictObject({ event: z.literal('clear') }),
]);
/** 20 ms to 30 s of mu-law in one message. */
const PAYLOAD_BYTES = { min: 160, max: 240_000 };

export function telnyxWire(stream: {
  callControlId: string;
  streamId: string;
  from: string;
  to: string;
  clientState: string | null;
}): StreamWire {
  const { callControlId, streamId, from, to, clientState } = stream;
  let sequence = 0;
  function message(event: string, parts: Record<string, unknown>): string {
    sequence += 1;
    const sequenceNumber = String(sequence);
    return JSON.stringify({
      event,
      sequence_number: sequenceNumber,
      stream_id: streamId,
      ...parts,
    });
  }
  return {
    opening: () => [
      JSON.stringify({ event: 'connected', version: '1.0.0' }),
      message('start', {
        start: {
          user_id: '7d2f3c1e',
          call_control_id: callControlId,
          call_session_id: 'session',
          from,
          to,
          tags: [],
          client_state: clientState,
          custom_parameters: {},
          media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
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
    digit: (digit) => message('dtmf', { occurred_at: new Date().toISOString(), dtmf: { digit } }),
    mark: (name) => message('mark', { mark: { name } }),
    onClear: 'echo-marks',
    cleared: () => undefined,
    stop: () => message('stop', { stop: { user_id: '7d2f3c1e', call_control_id: callControlId } }),
    read(data, isBinary) {
      const read = isBinary ? undefined : incoming.safeParse(jsonOf(data));
      if (!read?.success) return fault(data);
      const { data: sent } = read;
      if (sent.event === 'clear') return { type: 'clear' };
      if (sent.event === 'mark') return { type: 'mark', name: sent.mark.name };
      const mulaw = Buffer.from(sent.media.payload, 'base64');
      const isUsable = mulaw.length >= PAYLOAD_BYTES.min && mulaw.length <= PAYLOAD_BYTES.max;
      return isUsable ? { type: 'audio', mulaw } : fault(data);
    },
  };
}
