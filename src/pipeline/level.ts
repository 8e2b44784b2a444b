// How loud a frame is.

/** What counts as nothing: below any telephone line's noise. */
export const LEVEL_MIN_DB = -70;

const FULL_SCALE_SQUARED = 32_768 ** 2;

/** RMS level in dB of full scale, at least LEVEL_MIN_DB. */
export function levelDb(samples: Int16Array): number {
  const count = samples.length;
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const sample = samples[i] as number;
    sum += sample * sample;
  }
  if (sum === 0) return LEVEL_MIN_DB;
  return Math.max(LEVEL_MIN_DB, 10 * Math.log10(sum / count / FULL_SCALE_SQUARED));
}
