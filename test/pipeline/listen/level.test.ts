import { expect, it } from 'vitest';
import { LEVEL_MIN_DB, levelDb } from '../../../src/pipeline/listen/level.ts';

it('is 0 dB where every sample is the loudest there is, of any number', () => {
  for (const count of [1, 2, 3, 160, 161]) {
    expect(levelDb(new Int16Array(count).fill(-32_768))).toBe(0);
  }
});

it('is the mean square of all samples, an odd last one too', () => {
  const expected = 10 * Math.log10((3_000 ** 2 + 4_000 ** 2 + 5_000 ** 2) / 3 / 32_768 ** 2);
  expect(levelDb(Int16Array.of(3_000, -4_000, 5_000))).toBeCloseTo(expected, 10);
});

it('is never below that of nothing', () => {
  expect(levelDb(new Int16Array(160))).toBe(LEVEL_MIN_DB);
  expect(levelDb(new Int16Array(0))).toBe(LEVEL_MIN_DB);
  expect(levelDb(new Int16Array(160).fill(1))).toBe(LEVEL_MIN_DB);
});
