// The resampler's filter in compiled code, WebAssembly or addon. A stream's history lives here and is copied in and
// out with each block, so that streams take no memory of the kernels and need no close.

import type { NativeKernels } from '../../runtime/native-kernels.ts';
import { BLOCK_SAMPLES, type BlockFilter, type Phases } from './resample-filter.ts';

/** Constants of native/src/resample.c: largest number of weights of a ratio, and number of ratios that fit. */
export const TAPS_MAX = 192;
const RATIOS_MAX = 12;

type FilterOf = (phases: Phases) => BlockFilter;

/** The addon has one memory per process, so its weight slots are shared too. */
const filtersOf = new WeakMap<NativeKernels, FilterOf>();

/** Makes filters that run in one instance of the kernels. */
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
