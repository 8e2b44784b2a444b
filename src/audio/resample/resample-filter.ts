// The low-pass filter of the resampler in polyphase form, and the block of work that both builds do.
// Source: J. O. Smith, Digital Audio Resampling; the window is Kaiser's.
//
// It passes 85 % of the lower rate's band (3.4 kHz of 8 kHz) within 0.01 dB; what lies above 4.35 kHz, and would
// fold to below 3.65 kHz, is 60 dB down, as are images. It delays by 16 samples of the lower rate. The weights are
// integers, so that every build gives the same samples.

/** The filter as `up` rows of `taps` weights in units of WEIGHT_ONE, the oldest sample first in each row. */
export interface Phases {
  readonly up: number;
  readonly down: number;
  readonly taps: number;
  readonly weights: Int16Array;
}

/** One stream through one filter. */
export interface BlockFilter {
  /** Filters `count` (up to BLOCK_SAMPLES) samples of `input` from index `from` into `output` from index
   *  `written`; returns the index after the last sample written. */
  run(input: Int16Array, from: number, count: number, output: Int16Array, written: number): number;
  reset(): void;
}

/** Samples filtered at once. Longer input is split, so that the work buffer has a fixed size. */
export const BLOCK_SAMPLES = 960;

/** The integer that is a weight of 1 (WEIGHT_BITS of native/src/resample.c). The magnitudes of a row sum up to
 *  2.4, so that its products with samples stay within 32 bits. */
export const WEIGHT_ONE = 2 ** 14;

/** Half the filter's length, in samples of the lower rate: 2 ms at 8 kHz. */
const ZERO_CROSSINGS = 16;
/** Cutoff (-6 dB), as a share of half the lower rate. */
const CUTOFF = 0.97;
/** Kaiser's shape for 60 dB is 5.65; the rounding of the weights takes some of the margin. */
const KAISER_BETA = 5.8;

/** The table has `toHz` divided by the rates' greatest common divisor rows: use rates for which that is small. */
export function designPhases(fromHz: number, toHz: number): Phases {
  const divisor = greatestCommonDivisor(fromHz, toHz);
  const up = toHz / divisor;
  const down = fromHz / divisor;
  const spacing = Math.max(up, down);
  const taps = Math.ceil((2 * ZERO_CROSSINGS * spacing) / up / 8) * 8;
  const length = taps * up;
  const weights = new Int16Array(length);
  const row = new Float64Array(taps);
  for (let phase = 0; phase < up; phase++) {
    for (let tap = 0; tap < taps; tap++) {
      // The newest sample is multiplied by the begin of the prototype filter.
      const at = phase + (taps - 1 - tap) * up - (length - 1) / 2;
      row[tap] = sinc((at * CUTOFF) / spacing) * kaiser((2 * at) / length);
    }
    weights.set(wholeWeights(row), phase * taps);
  }
  return { up, down, taps, weights };
}

/** Rounded so that each row sums up to WEIGHT_ONE: unequal rows would turn a constant level into a tone. */
function wholeWeights(row: Float64Array): Int16Array {
  const sum = row.reduce((total, weight) => total + weight, 0);
  const exact = row.map((weight) => (weight / sum) * WEIGHT_ONE);
  const whole = Int16Array.from(exact, Math.floor);
  const rest = (tap: number) => (exact[tap] as number) - (whole[tap] as number);
  const missing = WEIGHT_ONE - whole.reduce((total, weight) => total + weight, 0);
  const byRest = [...row.keys()].sort((a, b) => rest(b) - rest(a));
  for (const tap of byRest.slice(0, missing)) whole[tap] = (whole[tap] as number) + 1;
  return whole;
}

/** Delay of the filter in milliseconds. */
export function delayMsOf({ up, taps }: Phases, fromHz: number): number {
  return ((taps * up - 1) / 2 / up / fromHz) * 1_000;
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
