// The forward pass of the voice activity detector in compiled code, WebAssembly or addon: one call for all windows
// that are due. All streams live in the kernels' one memory, whose size is fixed, so that the views on it stay
// valid.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { NativeKernels } from '../../runtime/native-kernels.ts';
import {
  allSlots,
  BATCH_MAX,
  INPUT_SAMPLES,
  INSTRUCTIONS,
  type Instructions,
  STREAMS_MAX,
  type VadKernel,
  WEIGHTS,
} from './vad-kernel.ts';

const FLOAT_BYTES = 4;

/** The addon has one memory per process, so it has one kernel with one list of slots. */
const kernelOf = new WeakMap<NativeKernels, VadKernel & { instructions: Instructions }>();

/** `weights` as scripts/extract-vad.mjs writes them. `instructions`: which of INSTRUCTIONS to use, up to what
 *  the processor has (vadInstructions); default: the best it has. Throws NATIVE_BROKEN if the kernels were built
 *  for other dimensions. */
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
