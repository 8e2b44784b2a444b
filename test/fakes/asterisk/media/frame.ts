// Audio inside the simulated PBX: PCM with its rate. Each end converts to what it speaks.

import type { SampleRateHz } from '../../../../src/audio/pcm.ts';
import { createResampler, type Resampler } from '../../../../src/audio/resample/resampler.ts';

/** Borrowed until the call that hands it over returns. */
export interface Frame {
  pcm: Int16Array;
  rateHz: SampleRateHz;
}

/** Makes frames of any rate into frames of one. Where the rates are equal, the samples stay what they are. */
export class RateConverter {
  readonly #toHz: SampleRateHz;
  readonly #resamplers = new Map<SampleRateHz, Resampler>();

  constructor(toHz: SampleRateHz) {
    this.#toHz = toHz;
  }

  /** Borrowed until the next call. */
  convert(frame: Frame): Int16Array {
    if (frame.rateHz === this.#toHz) return frame.pcm;
    let resampler = this.#resamplers.get(frame.rateHz);
    if (resampler === undefined) {
      resampler = createResampler({ fromHz: frame.rateHz, toHz: this.#toHz });
      this.#resamplers.set(frame.rateHz, resampler);
    }
    return resampler.process(frame.pcm);
  }
}
