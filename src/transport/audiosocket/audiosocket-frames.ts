// AudioSocket's frames as bytes: a kind, a length in network order, a payload. Pure; audiosocket-server.ts handles
// the kinds. Source: asterisk §3.

import { GatewayError } from '../../errors/gateway-error.ts';

export const KIND = {
  hangUp: 0x00,
  uuid: 0x01,
  digit: 0x03,
  slin: 0x10,
  slin16: 0x12,
  /** Audio of other rates lies between `slin` and this. */
  slin192: 0x18,
  error: 0xff,
} as const;

const HEADER_BYTES = 3;
/** 20 ms of the widest kind are 7,680 bytes. */
export const AUDIOSOCKET_PAYLOAD_BYTES_MAX = 8_192;

/** `payload` is borrowed until the call returns. */
export type AudioSocketFrameHandler = (kind: number, payload: Uint8Array) => void;

/** Splits a stream of bytes into frames, however it was segmented. */
export class FrameReader {
  /** An incomplete frame. */
  readonly #held = new Uint8Array(HEADER_BYTES + AUDIOSOCKET_PAYLOAD_BYTES_MAX);
  #heldBytes = 0;

  /** Throws MEDIA_OVERSIZED; the stream is unusable then. */
  read(chunk: Uint8Array, take: AudioSocketFrameHandler): void {
    for (let at = 0; at < chunk.length; ) {
      const end = this.#heldBytes === 0 ? endOfFrame(chunk, at) : undefined;
      if (end !== undefined && end <= chunk.length) {
        take(chunk[at] as number, chunk.subarray(at + HEADER_BYTES, end));
        at = end;
      } else {
        at += this.#hold(chunk, at, take);
      }
    }
  }

  /** Takes the missing bytes of the current frame, first of its header; returns their number. */
  #hold(chunk: Uint8Array, at: number, take: AudioSocketFrameHandler): number {
    const wanted = endOfFrame(this.#held.subarray(0, this.#heldBytes), 0) ?? HEADER_BYTES;
    const count = Math.min(wanted - this.#heldBytes, chunk.length - at);
    this.#held.set(chunk.subarray(at, at + count), this.#heldBytes);
    this.#heldBytes += count;
    const end = endOfFrame(this.#held.subarray(0, this.#heldBytes), 0);
    if (end === this.#heldBytes) {
      this.#heldBytes = 0;
      take(this.#held[0] as number, this.#held.subarray(HEADER_BYTES, end));
    }
    return count;
  }
}

/** Undefined while the header is incomplete. */
function endOfFrame(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.length - at < HEADER_BYTES) return undefined;
  const payloadBytes = ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  if (payloadBytes > AUDIOSOCKET_PAYLOAD_BYTES_MAX) {
    throw new GatewayError('MEDIA_OVERSIZED', { bytes: payloadBytes });
  }
  return at + HEADER_BYTES + payloadBytes;
}

/** One frame of at most PAYLOAD_BYTES_MAX; the result is the caller's. */
export function writeFrame(kind: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + payload.length);
  frame[0] = kind;
  frame[1] = payload.length >> 8;
  frame[2] = payload.length;
  frame.set(payload, HEADER_BYTES);
  return frame;
}
