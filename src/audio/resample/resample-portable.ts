// The resampler's filter in plain TypeScript.

import { BLOCK_SAMPLES, type BlockFilter, type Phases, WEIGHT_ONE } from './resample-filter.ts';

export function portableFilter({ up, down, taps, weights: whole }: Phases): BlockFilter {
  // Weights as fractions of a power of two, whose sums of products are exact: the same samples as with integers.
  const weights = Float32Array.from(whole, (weight) => weight / WEIGHT_ONE);
  const history = taps - 1;
  /** The last `history` samples of the previous block, then the block. */
  const line = new Float32Array(history + BLOCK_SAMPLES);
  /** Position of the next output sample: input sample (from the start of the block) and phase. */
  let at = 0;
  let phase = 0;
  return {
    run(input, from, count, output, written) {
      for (let i = 0; i < count; i++) line[history + i] = input[from + i] as number;
      let end = written;
      for (; at < count; end++) {
        output[end] = clamped(dot(weights, phase * taps, line, at, taps));
        phase += down;
        while (phase >= up) {
          phase -= up;
          at++;
        }
      }
      at -= count;
      line.copyWithin(0, count, count + history);
      return end;
    },
    reset() {
      line.fill(0);
      at = 0;
      phase = 0;
    },
  };
}

function dot(
  weights: Float32Array,
  row: number,
  line: Float32Array,
  at: number,
  taps: number,
): number {
  // Four sums, so that the multiplications do not depend on each other.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  for (let tap = 0; tap < taps; tap += 4) {
    a += (weights[row + tap] as number) * (line[at + tap] as number);
    b += (weights[row + tap + 1] as number) * (line[at + tap + 1] as number);
    c += (weights[row + tap + 2] as number) * (line[at + tap + 2] as number);
    d += (weights[row + tap + 3] as number) * (line[at + tap + 3] as number);
  }
  return a + b + c + d;
}

function clamped(sample: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.floor(sample + 0.5)));
}
