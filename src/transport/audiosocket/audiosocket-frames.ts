// AudioSocket's frames as bytes: a kind, a length in network order, a payload. Pure; audiosocket-server.ts handles
// the kinds. Source: asterisk §3.

import { GatewayError } from '../../errors/gateway-error.ts';

export const KIND = {
  hangUp: 0x00,
  uuid: 0x01,
  digit: 0x03,
  slin: 0x10,
  slin16: 0x12,
  /** Kinds of audio at other rates lie between `slin` and this one. */
  slin192: 0x18,
  error: 0xff,
} as const;

const HEADER_BYTES = 3;
/** Largest payload: 20 ms of the widest kind are 7,680 bytes. */
export const AUDIOSOCKET_PAYLOAD_BYTES_MAX = 8_192;

/** `payload` is borrowed until the call returns. */
export type AudioSocketFrameHandler = (kind: number, payload: Uint8Array) => void;

/** Splits a stream of bytes into frames, in segments of any size. */
export class FrameReader {
  /** Buffer for an incomplete frame. */
  readonly #held = new Uint8Array(HEADER_BYTES + AUDIOSOCKET_PAYLOAD_BYTES_MAX);
  #heldBytes = 0;

  /** Reads frames from `chunk`. Throws MEDIA_OVERSIZED; the stream is unusable then. */
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

  /** Copies the missing bytes of the current frame, first those of its header. Returns their number. */
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

/** Index after the frame. Undefined while the header is incomplete. */
function endOfFrame(bytes: Uint8Array, at: number): number | undefined {
  if (bytes.length - at < HEADER_BYTES) return undefined;
  const payloadBytes = ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
  if (payloadBytes > AUDIOSOCKET_PAYLOAD_BYTES_MAX) {
    throw new GatewayError('MEDIA_OVERSIZED', { bytes: payloadBytes });
  }
  return at + HEADER_BYTES + payloadBytes;
}

/** Encodes one frame of at most AUDIOSOCKET_PAYLOAD_BYTES_MAX. The caller owns the result. */
export function writeFrame(kind: number, payload: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEADER_BYTES + payload.length);
  frame[0] = kind;
  frame[1] = payload.length >> 8;
  frame[2] = payload.length;
  frame.set(payload, HEADER_BYTES);
  return frame;
}
