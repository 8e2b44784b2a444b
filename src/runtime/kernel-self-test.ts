// Self-test of a build of the kernels when it is loaded: known input gives the known output, to the bit, in the
// integer kernels (G.722, resampling). The speech detector's, in floats, is compared by audio/vad/vad-loader.ts.

import type { Fault } from './self-test-report.ts';

/** A build as native-kernels.ts loads it. */
interface CompiledBuild {
  readonly build: string;
  readonly memory: ArrayBuffer;
  function(name: string): (...values: number[]) => number;
}

/** FNV-1a over what every correct build makes of the input below; the portable builds give the same. */
const EXPECTED = { encoded: 3_963_751_735, decoded: 1_529_268_191, resampled: 1_673_573_349 };

/** 10 ms of G.722, and of 8 kHz audio. */
const PAYLOAD_BYTES = 80;
const SAMPLES = 80;
/** As in native/src/resample.c: the last place for weights, more than there are ratios. */
const SPARE_PLACE = 11;
/** Two samples out for one in. */
const FILTER = { up: 2, down: 1, taps: 16 } as const;
/** Results of a filter that is stuck are not read beyond this: a block's output at the widest ratio. */
const RESULT_SAMPLES_MAX = 6 * SAMPLES + 6;

/** Undefined if the build computes what it should. Needs the kernels' memory for itself. */
export function kernelFault(kernels: CompiledBuild): Fault {
  try {
    const found = { ...g722Of(kernels), resampled: resampledOf(kernels) };
    const wrong = Object.entries(EXPECTED).find(
      ([name, hash]) => found[name as keyof typeof found] !== hash,
    );
    return wrong && `${kernels.build}: ${wrong[0]} samples are not the known ones`;
  } catch (error) {
    return `${kernels.build}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function g722Of(kernels: CompiledBuild): { encoded: number; decoded: number } {
  const { memory } = kernels;
  const number = (name: string): number => kernels.function(name)();
  const begin = kernels.function('g722Begin');
  const samples = new Int16Array(memory, number('g722Samples'), 2 * PAYLOAD_BYTES);
  const payload = new Uint8Array(memory, number('g722Payload'), PAYLOAD_BYTES);
  begin();
  samples.set(testTone(samples.length));
  kernels.function('g722Encode')(PAYLOAD_BYTES);
  const encoded = hashOf(payload);
  begin();
  kernels.function('g722Decode')(PAYLOAD_BYTES);
  return { encoded, decoded: hashOf(samples) };
}

function resampledOf(kernels: CompiledBuild): number {
  const { memory } = kernels;
  const { up, down, taps } = FILTER;
  const address = (name: string, ...of: number[]): number => kernels.function(name)(...of);
  const weights = new Int16Array(memory, address('resampleWeights', SPARE_PLACE), up * taps);
  weights.set(testWeights());
  const line = new Int16Array(memory, address('resampleLine'), taps - 1 + SAMPLES);
  line.fill(0, 0, taps - 1).set(testTone(SAMPLES), taps - 1);
  new Int32Array(memory, address('resampleCursor'), 2).fill(0);
  const made = kernels.function('resampleBlock')(SPARE_PLACE, SAMPLES, up, down, taps);
  const count = Math.max(0, Math.min(made, RESULT_SAMPLES_MAX));
  return hashOf(new Int16Array(memory, address('resampleOutput'), count));
}

/** Alternating runs of a loud saw-tooth and of a quiet one, up to the ends of 16 bits. */
function testTone(count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, nth) => {
    const saw = ((nth * 4_111) % 65_536) - 32_768;
    return nth % 16 < 8 ? saw : -(saw >> 3);
  });
}

/** Weights that fall from the first to the last: no symmetry hides a wrong order. */
function testWeights(): Int16Array {
  return Int16Array.from({ length: FILTER.up * FILTER.taps }, (_, nth) => 3_000 - nth * 157);
}

/** FNV-1a, 32 bits. */
function hashOf(samples: Int16Array | Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const sample of samples) hash = Math.imul(hash ^ (sample & 0xffff), 0x01000193);
  return hash >>> 0;
}
