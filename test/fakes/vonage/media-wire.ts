// Vonage's messages of one media socket: binary audio of exactly 20 ms, JSON for everything else.

import { createRequire } from 'node:module';
import type * as alawmulaw from 'alawmulaw';
import { z } from 'zod';
import { fault, jsonOf, type StreamWire } from '../hosted/media-line.ts';

// The package's CommonJS build: plain Node (the demo's process) finds no named exports in it.
const { mulaw }: typeof alawmulaw = createRequire(import.meta.url)('alawmulaw');

/** 20 ms of 16-bit samples at 8 kHz. */
const FRAME_BYTES = 320;
/** 3,072 messages. */
const BUFFER_MS_MAX = 3_072 * 20;

const incoming = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('clear') }),
  z.strictObject({ action: z.literal('notify'), payload: z.object({ id: z.string() }) }),
]);

export function vonageWire(contentType: string, headers: Record<string, string>): StreamWire {
  return {
    opening: () => [
      JSON.stringify({ event: 'websocket:connected', 'content-type': contentType, ...headers }),
    ],
    audio: (frame) => linearOf(frame),
    digit: (digit) => JSON.stringify({ event: 'websocket:dtmf', digit, duration: 260 }),
    mark: (id) => JSON.stringify({ event: 'websocket:notify', payload: { id } }),
    onClear: 'drop-marks',
    cleared: () => JSON.stringify({ event: 'websocket:cleared' }),
    stop: () => undefined,
    bufferMsMax: BUFFER_MS_MAX,
    read(data, isBinary) {
      if (isBinary) {
        if (data.length !== FRAME_BYTES) {
          const samples = data.length / 2;
          const message = `unexpected frame size ${samples}, when required ${FRAME_BYTES / 2}`;
          return { type: 'fault', message };
        }
        return { type: 'audio', mulaw: companded(data) };
      }
      const sent = incoming.safeParse(jsonOf(data)).data;
      if (sent === undefined) return fault(data);
      return sent.action === 'clear' ? { type: 'clear' } : { type: 'mark', name: sent.payload.id };
    },
  };
}

function linearOf(frame: Uint8Array): Buffer {
  const bytes = Buffer.alloc(frame.length * 2);
  mulaw.decode(frame).forEach((sample, at) => {
    bytes.writeInt16LE(sample, 2 * at);
  });
  return bytes;
}

function companded(data: Buffer): Uint8Array {
  const samples = new Int16Array(data.length / 2);
  for (let at = 0; at < samples.length; at++) samples[at] = data.readInt16LE(2 * at);
  return mulaw.encode(samples);
}
