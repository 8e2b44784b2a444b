import { describe, expect, it } from 'vitest';
import { softLimited } from '../../src/audio/soft-limiter.ts';
import { highPass, telephoneBand } from '../../src/audio/telephone-band.ts';

/** Gain of a filter for a tone, in dB, after its transient. */
function gainDb(filter: { process(signal: Float64Array): void }, hz: number): number {
  const signal = Float64Array.from({ length: 8_000 }, (_, i) =>
    Math.sin((2 * Math.PI * hz * i) / 8_000),
  );
  filter.process(signal);
  const settled = signal.slice(4_000);
  const power = settled.reduce((sum, each) => sum + each * each, 0) / settled.length;
  return 10 * Math.log10(power / 0.5);
}

describe('the telephone band', () => {
  it.each([
    [150, -30, -20],
    [300, -3.3, -2.7],
    [1_000, -0.2, 0.2],
    [3_000, -0.6, 0.2],
    [3_400, -3.3, -2.7],
    [3_800, -60, -15],
  ])('passes %i Hz with %d to %d dB', (hz, least, most) => {
    expect(gainDb(telephoneBand(), hz)).toBeGreaterThan(least);
    expect(gainDb(telephoneBand(), hz)).toBeLessThan(most);
  });

  it('has a high-pass with 12 dB per octave', () => {
    expect(gainDb(highPass(300), 300)).toBeCloseTo(-3, 0);
    expect(gainDb(highPass(300), 75)).toBeCloseTo(-24, 0);
    expect(gainDb(highPass(300), 1_500)).toBeCloseTo(0, 1);
  });
});

describe('the limiter', () => {
  it('leaves samples below its knee as they are, and keeps all others below full scale', () => {
    expect(softLimited(-19_999.6)).toBe(-20_000);
    expect(softLimited(12_345)).toBe(12_345);
    for (const size of [20_001, 40_000, 200_000]) {
      expect(softLimited(size)).toBeGreaterThan(20_000);
      expect(softLimited(size)).toBeLessThanOrEqual(31_000);
      expect(softLimited(-size)).toBe(-softLimited(size));
    }
  });
});
