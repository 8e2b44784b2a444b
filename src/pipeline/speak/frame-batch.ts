// Batches frames of the same moment into one message: a message costs the socket the same at any size. The sender
// flushes it at the end of the moment.

import { FRAME_MS } from '../../audio/pcm.ts';
import type { Codec } from '../../codec/codec.ts';

/** The connection to the caller, in the provider's terms. */
export interface AudioWire {
  /** Sends encoded audio, a whole number of frames; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
  mark(name: string): void;
  /** Drops the audio in the far end's buffer. */
  clear(): void;
  /** Number of bytes accepted and not yet sent. */
  readonly bufferedBytes: number;
}

/** One buffer for all calls: it is flushed before another call fills it. */
interface Place {
  readonly bytes: Uint8Array;
  /** The call whose audio is in the buffer. */
  owner: FrameBatch | undefined;
}

/** Buffers by their bytes. There are as many as codecs and steps. */
const places = new Map<number, Place>();

export class FrameBatch {
  readonly #wire: AudioWire;
  readonly #place: Place;
  #filled = 0;

  /** `stepMs`: the longest audio in one message. */
  constructor({ wire, codec, stepMs }: { wire: AudioWire; codec: Codec; stepMs: number }) {
    this.#wire = wire;
    const frames = Math.floor(stepMs / FRAME_MS);
    this.#place = placeOf(frames > 1 ? frames * codec.frameBytes : 0);
  }

  /** Adds one encoded frame; borrowed until the call returns. */
  audio(payload: Uint8Array): void {
    const { bytes } = this.#place;
    if (payload.length > bytes.length - this.#filled) this.flush();
    if (payload.length > bytes.length) {
      this.#wire.audio(payload);
      return;
    }
    this.#own();
    bytes.set(payload, this.#filled);
    this.#filled += payload.length;
  }

  mark(name: string): void {
    this.flush();
    this.#wire.mark(name);
  }

  clear(): void {
    this.flush();
    this.#wire.clear();
  }

  /** Sends the gathered frames. */
  flush(): void {
    if (this.#filled === 0) return;
    const filled = this.#filled;
    const { bytes } = this.#place;
    this.#filled = 0;
    this.#place.owner = undefined;
    this.#wire.audio(filled === bytes.length ? bytes : bytes.subarray(0, filled));
  }

  /** Flushes another call's frames first. */
  #own(): void {
    const { owner } = this.#place;
    if (owner === this) return;
    owner?.flush();
    this.#place.owner = this;
  }

  get bufferedBytes(): number {
    return this.#wire.bufferedBytes;
  }
}

function placeOf(bytes: number): Place {
  const place = places.get(bytes) ?? { bytes: new Uint8Array(bytes), owner: undefined };
  places.set(bytes, place);
  return place;
}
