// Media socket of a browser: audio in binary messages of 20 ms, linear PCM of 16 bits in little endian, everything else in
// JSON. The page's side is src/console/audio. Source: docs/web-calls.md.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import type { MediaNotices, MediaProtocol } from '../provider/media-protocol.ts';
import type { AudioListener, MediaListener, MediaTraits } from '../provider/media-session.ts';
import type { DirectCall } from '../provider/provider.ts';

const codecs = { 8000: 'L16', 16000: 'L16/16000' } as const;
const FRAME_S = 0.02;
const SAMPLE_BYTES = 2;
/** Keys at once, such as a number that is pasted; then one for so many frames of audio, ten a second, as fast as keys are
 *  sent over a line. Each key is a turn of the call; more are dropped, such as those of a key that is held down. */
const KEYS_MAX = 40;
const FRAMES_OF_KEY = 5;

const message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    rate: z.union([z.literal(8000), z.literal(16000)]),
    /** Whether the browser cancels echo, and the delay of its loudspeaker in milliseconds. */
    echo: z.boolean().optional(),
    out_ms: z.number().min(0).max(10_000).optional(),
    ua: z.string().max(300).optional(),
  }),
  z.object({
    type: z.literal('mark'),
    name: z.string().min(1).max(64),
    /** Samples that were played before it, since the socket's start. */
    at_frame: z.int().min(0),
  }),
  z.object({ type: z.literal('key'), digit: z.string().regex(/^[0-9A-D*#]$/) }),
  z.object({ type: z.literal('mute'), on: z.boolean() }),
  z.object({ type: z.literal('bye') }),
]);
type WebMessage = z.infer<typeof message>;

/** The page returns exact marks and clears within a few milliseconds. It begins to play at 60 ms. */
const TRAITS: MediaTraits = {
  marks: true,
  lead: { aimMs: 120, maxMs: 200, stallMsMax: 160, stepMs: 20 },
};

const NOTICES: MediaNotices = {
  started: (facts) => JSON.stringify({ type: 'started', ...facts }),
  item: (item) => JSON.stringify(item),
  ended: (facts) => JSON.stringify({ type: 'ended', ...facts }),
};

/** One socket's protocol. */
export function createWebMedia(call: DirectCall): MediaProtocol {
  return new WebMedia(call);
}

class WebMedia implements MediaProtocol {
  readonly traits = TRAITS;
  readonly notices = NOTICES;
  readonly #call: DirectCall;
  #frameBytes = 0;
  /** A frame of silence while the caller is muted. */
  #silence: Uint8Array | undefined;
  /** Frames that count for the next keys. */
  #keyFrames = KEYS_MAX * FRAMES_OF_KEY;

  constructor(call: DirectCall) {
    this.#call = call;
  }

  decodeText(text: string, listener: MediaListener): void {
    const read = message.safeParse(parseJson(text));
    if (!read.success) throw malformed(text.length, read.error);
    this.#accept(read.data, listener, text.length);
  }

  decodeBinary(payload: Uint8Array, listener: AudioListener): void {
    if (payload.length !== this.#frameBytes) throw malformed(payload.length);
    if (this.#keyFrames < KEYS_MAX * FRAMES_OF_KEY) this.#keyFrames += 1;
    listener.onAudio(this.#silence ?? payload, Number.NaN);
  }

  encodeAudio(payload: Uint8Array): Uint8Array {
    return payload;
  }

  encodeMark(name: string): string {
    return JSON.stringify({ type: 'mark', name });
  }

  encodeClear(): string {
    return '{"type":"clear"}';
  }

  #accept(read: WebMessage, listener: MediaListener, bytes: number): void {
    if (read.type === 'hello') {
      if (this.#frameBytes > 0) throw malformed(bytes);
      this.#frameBytes = read.rate * FRAME_S * SAMPLE_BYTES;
      const codec = codecs[read.rate];
      const { runId } = this.#call;
      const start = { callId: runId, streamId: runId, codecIn: codec, codecOut: codec };
      listener.onEvent({ type: 'started', start: { ...start, parameters: {} } });
      return;
    }
    if (this.#frameBytes === 0) throw malformed(bytes); // `hello` comes first.
    switch (read.type) {
      case 'mark':
        listener.onEvent({ type: 'mark', name: read.name, outcome: 'played' });
        break;
      case 'key':
        if (this.#keyFrames < FRAMES_OF_KEY) return;
        this.#keyFrames -= FRAMES_OF_KEY;
        listener.onEvent({ type: 'digit', digit: read.digit });
        break;
      case 'mute':
        this.#silence = read.on ? new Uint8Array(this.#frameBytes) : undefined;
        break;
      case 'bye':
        listener.onEvent({ type: 'closed', reason: 'ended' });
    }
  }
}

function malformed(bytes: number, cause?: unknown): GatewayError {
  return new GatewayError('MEDIA_MALFORMED', { provider: 'web', bytes }, cause);
}
