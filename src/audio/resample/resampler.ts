// Resampling between 8, 16, 24 and 48 kHz, and from the rates of synthesisers (22.05 and 44.1 kHz), mono, as a stream.
// No clock recovery. The filter is in resample-filter; all of its builds give the same samples. For 20 ms frames the
// compiled builds take a tenth of the portable one's time (8 to 24 kHz: 2.2 against 25 µs; 24 to 8 kHz: 1.5 against
// 22 µs); 22.05 and 44.1 kHz have too many phases for them.

import { type NativeKernels, nativeKernels } from '../../runtime/native-kernels.ts';
import {
  BLOCK_SAMPLES,
  type BlockFilter,
  delayMsOf,
  designPhases,
  type Phases,
} from './resample-filter.ts';
import { portableFilter } from './resample-portable.ts';

export interface Resampler {
  /** Delay of the filter in milliseconds. */
  readonly delayMs: number;
  /** Takes the next samples (any number up to a minute's; borrowed) and returns the output that they complete:
   *  on average `toHz / fromHz` times as many, for 20 ms exactly 20 ms. The result is valid until the next call. */
  process(samples: Int16Array): Int16Array;
  /** Clears the history: the next samples start a new stream. */
  reset(): void;
}

/** Sample rates, from `RESAMPLED_RATES`. */
export interface Rates {
  fromHz: number;
  toHz: number;
}

export const RESAMPLED_RATES: readonly number[] = [
  8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
];

/** Longest input: a minute at 48 kHz. It bounds the one output buffer. */
const INPUT_SAMPLES_MAX = 60 * 48_000;

/** Constants of native/src/resample.c: largest number of weights of a ratio, and number of ratios that fit. */
const TAPS_MAX = 192;
const RATIOS_MAX = 12;

type FilterOf = (phases: Phases) => BlockFilter;

/** A resampler for one stream, on the fastest build that is present. Throws NATIVE_BROKEN as loadKernels does.
 *  With equal rates it returns the samples unchanged. */
export function createResampler(rates: Rates, filterOf: FilterOf = fastestFilter): Resampler {
  const { fromHz, toHz } = rates;
  if (fromHz === toHz) return { delayMs: 0, process: (samples) => samples, reset: () => undefined };
  const phases = phasesOf(fromHz, toHz);
  const filter = filterOf(phases);
  let output = new Int16Array(0);
  let result = output;
  return {
    delayMs: delayMsOf(phases, fromHz),
    process(samples) {
      if (samples.length > INPUT_SAMPLES_MAX)
        throw new RangeError('more than a minute of samples in one call');
      const most = Math.ceil((samples.length * phases.up) / phases.down) + 1;
      if (output.length < most) output = new Int16Array(most);
      let written = 0;
      for (let from = 0; from < samples.length; from += BLOCK_SAMPLES) {
        const count = Math.min(BLOCK_SAMPLES, samples.length - from);
        written = filter.run(samples, from, count, output, written);
      }
      // Reuses the view while frames have one length, so that no frame allocates.
      if (result.buffer !== output.buffer || result.length !== written) {
        result = output.subarray(0, written);
      }
      return result;
    },
    reset: () => filter.reset(),
  };
}

function fastestFilter(phases: Phases): BlockFilter {
  const kernels = phases.weights.length > TAPS_MAX ? undefined : nativeKernels();
  return kernels === undefined ? portableFilter(phases) : compiledFilters(kernels)(phases);
}

/** Filter designs by ratio, shared by all streams: that of 22.05 kHz has 15,000 weights. */
const designs = new Map<string, Phases>();

function phasesOf(fromHz: number, toHz: number): Phases {
  if (!RESAMPLED_RATES.includes(fromHz) || !RESAMPLED_RATES.includes(toHz))
    throw new RangeError(`no resampling from ${fromHz} to ${toHz} Hz`);
  const key = `${fromHz}/${toHz}`;
  const phases = designs.get(key) ?? designPhases(fromHz, toHz);
  designs.set(key, phases);
  return phases;
}

/** The addon has one memory per process, so its weight slots are shared too. */
const filtersOf = new WeakMap<NativeKernels, FilterOf>();

/** Makes filters that run in one instance of the kernels. A stream's history lives here and is copied in and out with each
 *  block, so that streams take no memory of the kernels and need no close. */
export function compiledFilters(kernels: NativeKernels): FilterOf {
  const filterOf = filtersOf.get(kernels) ?? filtersIn(kernels);
  filtersOf.set(kernels, filterOf);
  return filterOf;
}

function filtersIn(kernels: NativeKernels): FilterOf {
  const { memory } = kernels;
  const address = (name: string, ...of: number[]) => kernels.function(name)(...of);
  const line = new Int16Array(memory, address('resampleLine'), TAPS_MAX + BLOCK_SAMPLES);
  const result = new Int16Array(memory, address('resampleOutput'), BLOCK_SAMPLES * 6 + 6);
  const cursor = new Int32Array(memory, address('resampleCursor'), 2);
  const filterBlock = kernels.function('resampleBlock');
  const places = new Map<string, number>();

  /** Filters of the same ratio share their weights. */
  function placeOf({ up, down, weights }: Phases): number {
    const key = `${up}/${down}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    if (places.size === RATIOS_MAX)
      throw new RangeError('no slot for the weights of another ratio');
    const place = places.size;
    places.set(key, place);
    new Int16Array(memory, address('resampleWeights', place), TAPS_MAX).set(weights);
    return place;
  }

  return (phases) => {
    const { up, down, taps } = phases;
    const place = placeOf(phases);
    const history = new Int16Array(taps - 1);
    const past = line.subarray(0, taps - 1);
    // Reuses the view while frames have one length, so that no frame allocates.
    let piece = result.subarray(0, 0);
    let at = 0;
    let phase = 0;
    return {
      run(input, from, count, output, written) {
        past.set(history);
        line.set(count === input.length ? input : input.subarray(from, from + count), taps - 1);
        cursor[0] = at;
        cursor[1] = phase;
        const made = filterBlock(place, count, up, down, taps);
        at = cursor[0];
        phase = cursor[1];
        history.set(past);
        if (made !== piece.length) piece = result.subarray(0, made);
        output.set(piece, written);
        return written + made;
      },
      reset() {
        history.fill(0);
        at = 0;
        phase = 0;
      },
    };
  };
}
