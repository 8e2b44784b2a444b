// Writes one frame of PCM to the wire: gain without clicks, background noise, sample rate, codec. Its only state is the
// gain of the last sample.

import { applyRamp } from '../../audio/gain.ts';
import { RATE_HZ } from '../../audio/pcm.ts';
import { createResampler, type Resampler } from '../../audio/resample/resampler.ts';
import type { Codec } from '../../codec/codec.ts';
import type { BackgroundNoise } from './background-noise.ts';

export interface FrameWire {
  /** Sends one encoded frame; borrowed until the call returns. */
  audio(payload: Uint8Array): void;
}

const payloads = new Map<number, Uint8Array>();

export class FrameWriter {
  readonly #codec: Codec;
  readonly #wire: FrameWire;
  /** Encoded frame, shared by all writers with the same frame size: a frame is sent before the next one is written. */
  readonly #payload: Uint8Array;
  readonly #resampler: Resampler | undefined;
  readonly #ambient: BackgroundNoise | undefined;
  #gain = 1;

  constructor(options: { codec: Codec; wire: FrameWire; ambient?: BackgroundNoise | undefined }) {
    this.#codec = options.codec;
    this.#wire = options.wire;
    this.#ambient = options.ambient;
    this.#payload = payloadOf(options.codec.frameBytes);
    const toHz = options.codec.rateHz;
    if (toHz !== RATE_HZ) this.#resampler = createResampler({ fromHz: RATE_HZ, toHz });
  }

  /** Applies gain to `frame`, linearly from that of the last frame to `gain`. The frame is played from media time
   *  `playMs` on. */
  shape(frame: Int16Array, gain: number, playMs: number): void {
    this.#apply(frame, gain);
    if (this.#ambient !== undefined) this.#ambient.mixInto(frame, playMs);
  }

  /** Sends a frame unchanged; borrowed. */
  send(frame: Int16Array): void {
    const samples = this.#resampler === undefined ? frame : this.#resampler.process(frame);
    const bytes = this.#codec.encode(samples, this.#payload);
    const whole = bytes === this.#payload.length;
    this.#wire.audio(whole ? this.#payload : this.#payload.subarray(0, bytes));
  }

  /** Gain of the last sample, 0..1. */
  get gain(): number {
    return this.#gain;
  }

  /** The far end's buffer was cleared while its audio had this gain, at which the next frame starts. */
  restart(gain: number): void {
    this.#gain = gain;
    this.#resampler?.reset();
  }

  /** Sets the gain at which the next frame starts. */
  startFrom(gain: number): void {
    this.#gain = gain;
  }

  #apply(frame: Int16Array, gain: number): void {
    const from = this.#gain;
    this.#gain = gain;
    if (from !== 1 || gain !== 1) applyRamp(frame, from, gain);
  }
}

/** The buffer of that size, of which there are as many as codecs. */
function payloadOf(bytes: number): Uint8Array {
  const payload = payloads.get(bytes) ?? new Uint8Array(bytes);
  payloads.set(bytes, payload);
  return payload;
}
