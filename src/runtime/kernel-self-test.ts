// Self-test of a kernel build when it is loaded: known input must give the known output, to the bit, in the integer
// kernels (G.722, resampling). audio/vad/vad-loader.ts tests the speech detector's floats.

import type { Fault } from './self-test-report.ts';

/** A build as native-kernels.ts loads it. */
interface CompiledBuild {
  readonly build: string;
  readonly memory: ArrayBuffer;
  function(name: string): (...values: number[]) => number;
}

/** FNV-1a hashes of the output of every correct build for the input below; the portable builds give the same. */
const EXPECTED = { encoded: 3_963_751_735, decoded: 1_529_268_191, resampled: 1_673_573_349 };

/** Bytes of 10 ms of G.722, and samples of 10 ms of 8 kHz audio. */
const PAYLOAD_BYTES = 80;
const SAMPLES = 80;
/** Last place for weights, as in native/src/resample.c. There are more places than ratios. */
const SPARE_PLACE = 11;
/** Filter with two output samples for one input sample. */
const FILTER = { up: 2, down: 1, taps: 16 } as const;
/** Limit of results read from a broken filter: a block's output at the widest ratio. */
const RESULT_SAMPLES_MAX = 6 * SAMPLES + 6;

/** Tests a build. Undefined if its results are correct. It needs exclusive use of the kernels' memory. */
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

/** Test signal: alternating runs of a loud and a quiet saw-tooth, up to the limits of 16 bits. */
function testTone(count: number): Int16Array {
  return Int16Array.from({ length: count }, (_, nth) => {
    const saw = ((nth * 4_111) % 65_536) - 32_768;
    return nth % 16 < 8 ? saw : -(saw >> 3);
  });
}

/** Test weights that decrease from first to last, so that no symmetry hides a wrong order. */
function testWeights(): Int16Array {
  return Int16Array.from({ length: FILTER.up * FILTER.taps }, (_, nth) => 3_000 - nth * 157);
}

/** FNV-1a hash, 32 bits. */
function hashOf(samples: Int16Array | Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const sample of samples) hash = Math.imul(hash ^ (sample & 0xffff), 0x01000193);
  return hash >>> 0;
}
