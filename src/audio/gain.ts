// Loudness of 16-bit PCM: its level in decibels (RMS), fades and mixing in place. pipeline/ decides where they
// apply. There is no compiled build: for a frame of 160 samples, copying it to the kernel and back costs as much as
// the kernel saves (mixing 0.6 µs here, 1.0 µs in WebAssembly; a ramp 0.5 µs in both).

const SAMPLE_MAX = 32_767;
const SAMPLE_MIN = -32_768;

/** The floor of a level in dB: below the noise of any telephone line. */
export const LEVEL_MIN_DB = -70;

const FULL_SCALE_SQUARED = 32_768 ** 2;

/** Amplitude factor of `db` decibels: -6 is about a half. */
export function gainOfDb(db: number): number {
  return 10 ** (db / 20);
}

/** RMS level in dB of full scale, at least LEVEL_MIN_DB. */
export function levelDb(samples: Int16Array): number {
  const count = samples.length;
  let sum = 0;
  // Two samples at a time as unsigned 32-bit integers, which just hold two squares: twice as fast.
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

/** Multiplies `pcm` by a gain that changes linearly from `fromGain` (the gain of the sample before the first) to
 *  `toGain` (at the last), with saturation. A fade over several frames is one call per frame. */
export function applyRamp(pcm: Int16Array, fromGain: number, toGain: number): void {
  const step = (toGain - fromGain) / pcm.length;
  for (let i = 0; i < pcm.length; i++) {
    pcm[i] = saturated((pcm[i] as number) * (fromGain + step * (i + 1)));
  }
}

/** Fade-in over the length of `pcm`, along half a cosine: no click at either end. */
export function fadeIn(pcm: Int16Array): void {
  for (let i = 0; i < pcm.length; i++) pcm[i] = saturated((pcm[i] as number) * rise(i, pcm.length));
}

/** Fade-out over the length of `pcm`, along half a cosine. */
export function fadeOut(pcm: Int16Array): void {
  const { length } = pcm;
  for (let i = 0; i < length; i++)
    pcm[i] = saturated((pcm[i] as number) * rise(length - 1 - i, length));
}

/** Cross-fade in place from `tail` to `pcm`; both have the same length. At equal power: uncorrelated noise keeps
 *  its loudness, where a linear cross-fade would dip by 3 dB. */
export function crossFade(pcm: Int16Array, tail: Int16Array): void {
  for (let i = 0; i < pcm.length; i++) {
    const angle = (Math.PI * (i + 0.5)) / (2 * pcm.length);
    pcm[i] = saturated(
      (pcm[i] as number) * Math.sin(angle) + (tail[i] as number) * Math.cos(angle),
    );
  }
}

/** Adds `loop` times `gain` to all of `target`, with saturation. Reads `loop` from sample `from` (0 to less than
 *  its length), and from its start again after its end. */
export function mixLoop(target: Int16Array, loop: Int16Array, gain: number, from = 0): void {
  const { length } = loop;
  let at = from;
  for (let i = 0; i < target.length; i++) {
    target[i] = saturated((target[i] as number) + (loop[at] as number) * gain);
    at++;
    if (at === length) at = 0;
  }
}

/** Math.floor, because Math.round branches and half of the branches are mispredicted: three times as slow. */
function saturated(sample: number): number {
  return Math.max(SAMPLE_MIN, Math.min(SAMPLE_MAX, Math.floor(sample + 0.5)));
}

/** Half a cosine from just above 0 (at `i` = 0) to just below 1 (at `length - 1`). */
function rise(i: number, length: number): number {
  return 0.5 - 0.5 * Math.cos((Math.PI * (i + 0.5)) / length);
}
