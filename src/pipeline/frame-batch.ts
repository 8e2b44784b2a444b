// Frames that go out at the same moment, in one message: every message costs the socket the same, however
// much is in it. It keeps nothing beyond the moment: whoever sends says when that is over.

import { FRAME_MS } from '../audio/pcm.ts';
import type { Codec } from '../codec/codec.ts';

/** The way out to the caller, in the provider's terms. */
export interface AudioWire {
  /** Encoded audio, a whole number of frames; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
  mark(name: string): void;
  /** Drops what the far end has buffered. */
  clear(): void;
  /** Bytes accepted and not yet on their way. */
  readonly bufferedBytes: number;
}

export class FrameBatch {
  readonly #wire: AudioWire;
  readonly #batch: Uint8Array;
  #filled = 0;

  /** `stepMs`: the most audio in one message. */
  constructor({ wire, codec, stepMs }: { wire: AudioWire; codec: Codec; stepMs: number }) {
    this.#wire = wire;
    const frames = Math.floor(stepMs / FRAME_MS);
    this.#batch = new Uint8Array(frames > 1 ? frames * codec.frameBytes : 0);
  }

  /** One encoded frame; borrowed until the call returns. */
  audio(payload: Uint8Array): void {
    if (payload.length > this.#batch.length - this.#filled) this.flush();
    if (payload.length > this.#batch.length) {
      this.#wire.audio(payload);
      return;
    }
    this.#batch.set(payload, this.#filled);
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

  /** Sends what was gathered. */
  flush(): void {
    if (this.#filled === 0) return;
    const filled = this.#filled;
    this.#filled = 0;
    this.#wire.audio(filled === this.#batch.length ? this.#batch : this.#batch.subarray(0, filled));
  }

  get bufferedBytes(): number {
    return this.#wire.bufferedBytes;
  }
}
