// Loads the voice activity detector: the weights, which must be present, and the fastest kernel that is. The kernel in
// compiled code, WebAssembly or addon, is here; vad-portable has the other.

import { GatewayError } from '../../errors/gateway-error.ts';
import { kernelInUse } from '../../metrics/metrics.ts';
import {
  addKernelFault,
  loadKernels,
  type NativeKernels,
  nativeFolders,
  readArtefact,
} from '../../runtime/native-kernels.ts';
import type { Clock } from '../../std/clock.ts';
import type { VadModel } from './vad.ts';
import { batchedVad } from './vad-batch.ts';
import {
  allSlots,
  BATCH_MAX,
  INPUT_SAMPLES,
  INSTRUCTIONS,
  type Instructions,
  STREAMS_MAX,
  type VadKernel,
  WEIGHTS,
  WINDOW_SAMPLES,
} from './vad-kernel.ts';
import { portableVadKernel } from './vad-portable.ts';

/** The portable kernel's results for the windows of `isSound` (the self-test). */
const EXPECTED = [0.225_052, 0.259_366, 0.153_757, 0.655_694];
/** Ten times the difference between instruction sets, and a hundredth of what would change a decision. */
const DIFFERENCE_MAX = 1e-3;
const FLOAT_BYTES = 4;
const KERNELS: readonly VadKernel['name'][] = ['addon', 'wasm', 'portable'];

/** Loads the detector with the fastest kernel that is present. `clock`: for windows that wait for a batch. Throws as
 *  loadVadKernel does. */
export function loadVad(clock: Clock, folders = nativeFolders): VadModel {
  const kernel = loadVadKernel(folders);
  kernelInUse.reset();
  for (const name of KERNELS) if (name !== kernel.name) kernelInUse.set({ kernel: name }, 0);
  kernelInUse.set({ kernel: kernel.name, instructions: kernel.instructions }, 1);
  return batchedVad(kernel, clock);
}

/** Loads the kernel. Throws NATIVE_MISSING without the weights, and NATIVE_BROKEN if weights or kernels belong to
 *  another version. */
export function loadVadKernel(folders = nativeFolders): VadKernel {
  const bytes = readArtefact('silero-v6-8k.bin', folders);
  if (bytes === undefined) {
    throw new GatewayError('NATIVE_MISSING', {
      file: 'native/build/silero-v6-8k.bin',
      command: 'node scripts/extract-vad.mjs',
    });
  }
  const weights = new Float32Array(WEIGHTS.end);
  for (let i = 0; i < weights.length; i++) weights[i] = bytes.readFloatLE(4 * i);
  const kernels = loadKernels(folders);
  if (kernels === undefined) return portableVadKernel(weights);
  const compiled = compiledVadKernel(kernels, weights);
  if (isSound(compiled)) return compiled;
  addKernelFault(`${compiled.name}: other speech probabilities with ${compiled.instructions}`);
  return portableVadKernel(weights);
}

/** Self-test of a kernel with this version's weights: windows of one stream, each with the state of the previous
 *  ones. */
export function isSound(kernel: VadKernel): boolean {
  kernel.clear(0);
  return EXPECTED.every((expected, window) => {
    kernel.slots[0] = 0;
    for (let i = 0; i < INPUT_SAMPLES; i++) {
      kernel.windows[i] = testVoice(i + window * WINDOW_SAMPLES);
    }
    kernel.hear(1);
    return Math.abs((kernel.probabilities[0] as number) - expected) < DIFFERENCE_MAX;
  });
}

/** A pulse of two decaying tones, 119 times a second. */
function testVoice(nth: number): number {
  const at = nth % 67;
  const low = 12_000 * Math.exp(-at / 14) * Math.sin(at * 0.55);
  return low + 6_000 * Math.exp(-at / 10) * Math.sin(at * 1.1);
}

/** The addon has one memory per process, so it has one kernel with one list of slots. */
const kernelOf = new WeakMap<NativeKernels, VadKernel & { instructions: Instructions }>();

/** The forward pass in compiled code: one call for all windows that are due. All streams live in the kernels' one
 *  memory, whose size is fixed, so that the views on it stay valid. `weights` as scripts/extract-vad.mjs writes them.
 *  `instructions`: which of INSTRUCTIONS to use, up to what the processor has (vadInstructions); default: the best it
 *  has. Throws NATIVE_BROKEN if the kernels were built for other dimensions. */
export function compiledVadKernel(
  kernels: NativeKernels,
  weights: Float32Array,
  instructions = kernels.function('vadInstructions')(),
): VadKernel {
  const expected = {
    vadWeightsBytes: WEIGHTS.end * FLOAT_BYTES,
    vadStreamsMax: STREAMS_MAX,
    vadBatchMax: BATCH_MAX,
    vadHeardSamples: INPUT_SAMPLES,
  };
  for (const [name, value] of Object.entries(expected)) {
    if (kernels.function(name)() !== value) throw broken(kernels, `other ${name}`);
  }
  const { memory } = kernels;
  const address = (name: string) => kernels.function(name)();
  new Float32Array(memory, address('vadWeights'), WEIGHTS.end).set(weights);
  const named = INSTRUCTIONS[instructions];
  if (named === undefined || kernels.function('vadPrepare')(instructions) !== 1) {
    throw broken(kernels, `no instruction set ${instructions}`);
  }
  const kernel = kernelOf.get(kernels) ?? {
    name: kernels.build,
    instructions: named,
    windows: new Int16Array(memory, address('vadWindows'), BATCH_MAX * INPUT_SAMPLES),
    slots: new Int32Array(memory, address('vadSlots'), BATCH_MAX),
    probabilities: new Float32Array(memory, address('vadProbabilities'), BATCH_MAX),
    free: allSlots(),
    clear: kernels.function('vadClear'),
    hear: kernels.function('vadHear'),
  };
  kernel.instructions = named;
  kernelOf.set(kernels, kernel);
  return kernel;
}

function broken({ build }: NativeKernels, reason: string): GatewayError {
  const file = build === 'addon' ? 'kernels.node' : 'kernels.wasm';
  return new GatewayError('NATIVE_BROKEN', { file, reason });
}
