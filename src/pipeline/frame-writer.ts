// One frame of PCM to the wire: gain without clicks, background noise, rate, codec. It keeps the gain of
// the last sample and no audio.

import { applyRamp } from '../audio/gain.ts';
import { RATE_HZ } from '../audio/pcm.ts';
import { createResampler, type Resampler } from '../audio/resample.ts';
import type { Codec } from '../codec/codec.ts';
import type { AmbientNoise } from './ambient.ts';

export interface FrameWire {
  /** One encoded frame; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
}

export class FrameWriter {
  readonly #codec: Codec;
  readonly #wire: FrameWire;
  readonly #payload: Uint8Array;
  readonly #resampler: Resampler | undefined;
  readonly #ambient: AmbientNoise | undefined;
  #gain = 1;

  constructor(options: { codec: Codec; wire: FrameWire; ambient?: AmbientNoise | undefined }) {
    this.#codec = options.codec;
    this.#wire = options.wire;
    this.#ambient = options.ambient;
    this.#payload = new Uint8Array(options.codec.frameBytes);
    const toHz = options.codec.rateHz;
    if (toHz !== RATE_HZ) this.#resampler = createResampler({ fromHz: RATE_HZ, toHz });
  }

  /** Sends a frame whose gain moves evenly from that of the last one to `gain`; changes `frame`, to what is
   *  sent. It is heard from media time `playMs` on. */
  write(frame: Int16Array, gain: number, playMs: number): void {
    this.#apply(frame, gain);
    if (this.#ambient !== undefined) this.#ambient.addTo(frame, playMs);
    const samples = this.#resampler === undefined ? frame : this.#resampler.process(frame);
    const bytes = this.#codec.encode(samples, this.#payload);
    const whole = bytes === this.#payload.length;
    this.#wire.audio(whole ? this.#payload : this.#payload.subarray(0, bytes));
  }

  /** Gain of the last sample, 0..1. */
  get gain(): number {
    return this.#gain;
  }

  /** The far end's buffer was cleared, what is heard has this gain: what follows is no continuation. */
  restart(gain: number): void {
    this.#gain = gain;
    this.#resampler?.reset();
  }

  /** The gain from which the next frame sets out. */
  startFrom(gain: number): void {
    this.#gain = gain;
  }

  #apply(frame: Int16Array, gain: number): void {
    const from = this.#gain;
    this.#gain = gain;
    if (from !== 1 || gain !== 1) applyRamp(frame, from, gain);
  }
}
