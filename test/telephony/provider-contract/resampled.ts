// Samples at another rate, with the pipeline's own resampler.

import type { SampleRateHz } from '../../../src/audio/pcm.ts';
import { createResampler } from '../../../src/audio/resample/resampler.ts';

/** `samples` are at 8 kHz. */
export function resampled(samples: Int16Array, toHz: SampleRateHz): Int16Array {
  if (toHz === 8_000) return samples;
  return createResampler({ fromHz: 8_000, toHz }).process(samples).slice();
}
