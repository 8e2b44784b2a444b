// Sample-rate conversion between 8, 16, 24 and 48 kHz, mono, as a stream: a polyphase FIR low-pass. No
// clock recovery and no other ratios.
// Source: J. O. Smith, Digital Audio Resampling; the window is Kaiser's.
//
// The filter passes 85 % of the lower rate's band (3.4 kHz of 8 kHz) within 0.1 dB; what lies above
// 4.35 kHz, and would fold to below 3.65 kHz, is 60 dB down. It delays by 16 samples of the lower rate.

import type { SampleRateHz } from './pcm.ts';

export interface Resampler {
  /** How long after a sample its sound comes out, in milliseconds. */
  readonly delayMs: number;
  /** Takes the next samples (any number; borrowed) and gives what they complete: on the whole
   *  `toHz / fromHz` as many, for 20 ms exactly 20 ms. The result is valid until the next call. */
  process(samples: Int16Array): Int16Array;
  /** Forgets the past: the next samples begin a new sound. */
  reset(): void;
}

/** Half the filter's length, in samples of the lower rate: 2 ms at 8 kHz. */
const ZERO_CROSSINGS = 16;
/** Where the response is down by half, as a share of the lower rate's half. */
const CUTOFF = 0.97;
/** Kaiser's shape for 60 dB. */
const KAISER_BETA = 5.65;
/** Samples filtered at once; longer input is cut, so that the work space has a size. */
const BLOCK_SAMPLES = 960;
/** Longest input: a minute at 48 kHz. The output is one buffer, and this bounds it. */
const INPUT_SAMPLES_MAX = 60 * 48_000;

/** The filter as `up` rows of `taps` weights, each row oldest sample first. */
interface Phases {
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  readonly weights: Float32Array;
}

export function createResampler(between: { fromHz: SampleRateHz; toHz: SampleRateHz }): Resampler {
  const { fromHz, toHz } = between;
  if (fromHz === toHz) return { delayMs: 0, process: (samples) => samples, reset: () => undefined };
  return portableResampler(designPhases(fromHz, toHz), fromHz);
}

function portableResampler(phases: Phases, fromHz: number): Resampler {
  const { up, down, taps, weights } = phases;
  const history = taps - 1;
  /** The last `history` samples of the past, then the block. */
  const line = new Float32Array(history + BLOCK_SAMPLES);
  let output = new Int16Array(0);
  /** Where the next output sample lies: input sample (from the block's begin) and phase. */
  let at = 0;
  let phase = 0;

  function filterBlock(count: number, from: number): number {
    let written = from;
    for (; at < count; written++) {
      const row = phase * taps;
      let even = 0;
      let odd = 0;
      for (let tap = 0; tap < taps; tap += 2) {
        even += (weights[row + tap] as number) * (line[at + tap] as number);
        odd += (weights[row + tap + 1] as number) * (line[at + tap + 1] as number);
      }
      output[written] = Math.max(-32_768, Math.min(32_767, Math.round(even + odd)));
      phase += down;
      while (phase >= up) {
        phase -= up;
        at++;
      }
    }
    at -= count;
    return written;
  }

  return {
    delayMs: ((taps * up - 1) / 2 / up / fromHz) * 1_000,
    process(samples) {
      const most = Math.ceil((samples.length * up) / down) + 1;
      if (samples.length > INPUT_SAMPLES_MAX) throw new RangeError('more than a minute at once');
      if (output.length < most) output = new Int16Array(most);
      let written = 0;
      for (let from = 0; from < samples.length; from += BLOCK_SAMPLES) {
        const count = Math.min(BLOCK_SAMPLES, samples.length - from);
        for (let i = 0; i < count; i++) line[history + i] = samples[from + i] as number;
        written = filterBlock(count, written);
        line.copyWithin(0, count, count + history);
      }
      return output.subarray(0, written);
    },
    reset() {
      line.fill(0);
      at = 0;
      phase = 0;
    },
  };
}

function designPhases(fromHz: number, toHz: number): Phases {
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const spacing = Math.max(up, down);
  const taps = Math.ceil((2 * ZERO_CROSSINGS * spacing) / up / 4) * 4;
  const length = taps * up;
  const weights = new Float32Array(length);
  for (let phase = 0; phase < up; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      // The newest sample meets the prototype's begin.
      const at = phase + (taps - 1 - tap) * up - (length - 1) / 2;
      const weight = sinc((at * CUTOFF) / spacing) * kaiser((2 * at) / length);
      weights[phase * taps + tap] = weight;
      sum += weight;
    }
    // Equal rows at 0 Hz, or a steady level would come out as a whistle.
    for (let tap = 0; tap < taps; tap++) {
      weights[phase * taps + tap] = (weights[phase * taps + tap] as number) / sum;
    }
  }
  return { up, down, taps, weights };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** Kaiser's window at `x`, -1..1 from end to end. */
function kaiser(x: number): number {
  return besselI0(KAISER_BETA * Math.sqrt(Math.max(0, 1 - x * x))) / besselI0(KAISER_BETA);
}

/** The modified Bessel function of order 0, by its power series. */
function besselI0(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; k <= 40; k++) {
    term *= (x / 2 / k) ** 2;
    sum += term;
  }
  return sum;
}
