// The telephone band, 300 to 3,400 Hz at 8 kHz: filters for measuring in it, and a high-pass that removes frequencies
// below it. Second-order sections (Butterworth), bilinear transform.
// Source: ITU-T G.712 (11/2001), 3.1 for the band; R. Bristow-Johnson, Audio EQ Cookbook, for the coefficients.

import { RATE_HZ } from './pcm.ts';

const BAND_LOW_HZ = 300;
const BAND_HIGH_HZ = 3_400;
/** Quality factors of the two sections of a fourth-order Butterworth filter. */
const FOURTH_ORDER = [0.5412, 1.3066];
const SECOND_ORDER = [Math.SQRT1_2];

interface Section {
  b0: number;
  b1: number;
  b2: number;
  a1: number;
  a2: number;
  /** State (transposed direct form II). */
  z1: number;
  z2: number;
}

/** A filter with state: one for each signal. */
export interface BandFilter {
  /** Filters in place. */
  process(signal: Float64Array): void;
}

/** Filter that passes only the telephone band, fourth order at both ends. For measuring. */
export function telephoneBand(): BandFilter {
  return filterOf([
    ...FOURTH_ORDER.map((quality) => section('high-pass', BAND_LOW_HZ, quality)),
    ...FOURTH_ORDER.map((quality) => section('low-pass', BAND_HIGH_HZ, quality)),
  ]);
}

/** Filter that removes frequencies below `cutoffHz`, second order. */
export function highPass(cutoffHz: number): BandFilter {
  return filterOf(SECOND_ORDER.map((quality) => section('high-pass', cutoffHz, quality)));
}

function filterOf(sections: readonly Section[]): BandFilter {
  return {
    process(signal) {
      for (const each of sections) run(each, signal);
    },
  };
}

function run(state: Section, signal: Float64Array): void {
  const { b0, b1, b2, a1, a2 } = state;
  let { z1, z2 } = state;
  for (let i = 0; i < signal.length; i++) {
    const x = signal[i] as number;
    const y = b0 * x + z1;
    z1 = b1 * x - a1 * y + z2;
    z2 = b2 * x - a2 * y;
    signal[i] = y;
  }
  state.z1 = z1;
  state.z2 = z2;
}

function section(kind: 'high-pass' | 'low-pass', cutoffHz: number, quality: number): Section {
  const angle = (2 * Math.PI * cutoffHz) / RATE_HZ;
  const cosine = Math.cos(angle);
  const alpha = Math.sin(angle) / (2 * quality);
  const scale = 1 / (1 + alpha);
  const sign = kind === 'high-pass' ? -1 : 1;
  const b0 = ((1 - sign * cosine) / 2) * scale;
  return {
    b0,
    b1: 2 * sign * b0,
    b2: b0,
    a1: -2 * cosine * scale,
    a2: (1 - alpha) * scale,
    z1: 0,
    z2: 0,
  };
}
