// What the media messages of each hosted provider cost: from the bytes of its websocket to the payload of a 20 ms frame,
// and from the payload to the bytes that are written. Websocket framing and everything behind the payload are left out.

import { systemClock } from '../../../src/std/clock.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import type { MediaSocket } from '../../../src/transport/media-socket.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { HEADER_BYTES } from '../../load/caller/media-client.ts';
import { protocolOf, streamOf } from '../../load/gateway-end.ts';
import { HOSTED, type HostedName } from '../../load/wires/wire.ts';
import { wires } from '../../load/wires/wires.ts';

/** A round that nothing else of a busy machine comes between is among them. */
const ROUNDS = 50;
const FRAME_MS = 20;
/** Bytes of mu-law audio in a millisecond. */
const BYTES_PER_MS = 8;
const BYTES_MAX = 64 * 1024;
const TEXT = 0x81;
/** Several messages: one alone would be learnt by heart. */
const MESSAGES = 64;

/** Microseconds for a frame, in and out, by provider: the fastest of the rounds that make `frames` together. */
export function benchMediaMessages(frames: number): Record<string, number> {
  return Object.fromEntries(
    HOSTED.flatMap((provider) => {
      const rig = new Rig(provider);
      return [
        [`${provider} in`, fastest(frames, () => rig.receive())],
        [`${provider} out`, fastest(frames, () => rig.send()) / rig.framesPerMessage],
      ];
    }),
  );
}

function fastest(times: number, step: () => void): number {
  const perRound = Math.max(1, Math.floor(times / ROUNDS));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now();
    for (let i = 0; i < perRound; i++) step();
    best = Math.min(best, ((performance.now() - before) * 1_000) / perRound);
  }
  return best;
}

class Rig {
  /** Frames in one message of the gateway: as many as one message may carry. */
  readonly framesPerMessage: number;
  readonly #session: SocketMediaSession;
  readonly #messages: Buffer[];
  readonly #payloads: Uint8Array[];
  #at = 0;
  #frames = 0;

  constructor(provider: HostedName) {
    const protocol = protocolOf(provider);
    this.framesPerMessage = protocol.traits.lead.stepMs / FRAME_MS;
    const { log } = quietLog('silent');
    const socket = new CopyingSocket();
    this.#session = new SocketMediaSession({ socket, protocol, clock: systemClock, log });
    this.#session.attach({
      onAudio: (payload) => {
        this.#frames += payload.length;
      },
      onEvent: () => undefined,
    });
    const stream = streamOf(provider);
    for (const message of stream.opening()) this.#session.onText(message);
    const frame = (nth: number): Uint8Array =>
      Uint8Array.from({ length: FRAME_MS * BYTES_PER_MS }, (_each, i) => (i * 7 + nth) & 0xff);
    this.#messages = Array.from({ length: MESSAGES }, (_each, nth) =>
      stream.audio(wires[provider].payloadOf(frame(nth))),
    );
    const bytes = provider === 'vonage' ? 2 : this.framesPerMessage;
    this.#payloads = Array.from({ length: MESSAGES }, (_each, nth) =>
      Buffer.concat(Array.from({ length: bytes }, () => frame(nth))),
    );
  }

  /** As the connection gives a message on. */
  receive(): void {
    this.#at = (this.#at + 1) % MESSAGES;
    const message = this.#messages[this.#at] as Buffer;
    const before = this.#frames;
    if (message[0] !== TEXT) this.#session.onBinary(message.subarray(HEADER_BYTES));
    else if (!this.#session.takeAscii(message, HEADER_BYTES, message.length)) {
      this.#session.onText(message.toString('latin1', HEADER_BYTES));
    }
    if (this.#frames === before) throw new Error('a message without audio');
  }

  send(): void {
    this.#at = (this.#at + 1) % MESSAGES;
    this.#session.audio(this.#payloads[this.#at] as Uint8Array);
  }
}

/** What is written is copied once. */
class CopyingSocket implements MediaSocket {
  readonly bufferedBytes = 0;
  readonly open = true;
  readonly #sent = Buffer.alloc(BYTES_MAX);

  sendText(text: string): void {
    this.#sent.write(text, 0, 'utf8');
  }

  sendAscii(message: Uint8Array): void {
    this.#sent.set(message);
  }

  sendBinary(message: Uint8Array): void {
    this.#sent.set(message);
  }

  close(): void {
    // Nothing is open.
  }
}
