// Measuring tones in PCM, for tests.

/** `count` samples of a sine of `amplitude` (in 16-bit steps). */
export function sine(of: {
  hz: number;
  rateHz: number;
  count: number;
  amplitude: number;
}): Int16Array {
  const step = (2 * Math.PI * of.hz) / of.rateHz;
  return Int16Array.from({ length: of.count }, (_, i) =>
    Math.round(of.amplitude * Math.sin(step * i)),
  );
}

/** Amplitude of the part of `pcm` at `hz` (a Hann-windowed correlation). */
export function amplitudeAt(pcm: Int16Array, hz: number, rateHz: number): number {
  let real = 0;
  let imaginary = 0;
  for (let i = 0; i < pcm.length; i++) {
    const weighted = (0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / pcm.length)) * (pcm[i] ?? 0);
    real += weighted * Math.cos((2 * Math.PI * hz * i) / rateHz);
    imaginary += weighted * Math.sin((2 * Math.PI * hz * i) / rateHz);
  }
  return (Math.hypot(real, imaginary) * 4) / pcm.length;
}

/** Mean square of the samples. */
export function meanSquare(pcm: Int16Array): number {
  return pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;
}

export function powerDb(ratio: number): number {
  return 10 * Math.log10(ratio);
}

/** Repeatable noise in -1..1 (mulberry32). */
export function noise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2_147_483_648 - 1;
  };
}
