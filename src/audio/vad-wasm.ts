// The speech detector's forward pass in WebAssembly SIMD: one crossing for each window. All streams live in
// the kernels' one memory, whose size is fixed, so that the views on it never go stale.

import { GatewayError } from '../errors.ts';
import type { Kernels } from './native.ts';
import {
  STATE_FLOATS,
  STREAMS_MAX,
  type VadKernel,
  WEIGHTS,
  WINDOW_SAMPLES,
} from './vad-kernel.ts';

const FLOAT_BYTES = 4;

/** `weights` as scripts/extract-vad.mjs writes them. Throws NATIVE_BROKEN if the kernels were built for
 *  other measures. */
export function wasmVadKernel(kernels: Kernels, weights: Float32Array): VadKernel {
  const expected = {
    vadWeightsBytes: WEIGHTS.end * FLOAT_BYTES,
    vadStreamBytes: STATE_FLOATS * FLOAT_BYTES,
    vadStreamsMax: STREAMS_MAX,
  };
  for (const [name, value] of Object.entries(expected)) {
    if (kernels.function(name)() === value) continue;
    throw new GatewayError('NATIVE_BROKEN', { file: 'kernels.wasm', reason: `other ${name}` });
  }
  new Float32Array(kernels.memory, kernels.function('vadWeights')(), WEIGHTS.end).set(weights);
  const input = new Int16Array(kernels.memory, kernels.function('vadWindow')(), WINDOW_SAMPLES);
  const processSlot = kernels.function('vadProcess');
  return {
    name: 'wasm',
    clear: kernels.function('vadClear'),
    process(slot, window) {
      input.set(window);
      return processSlot(slot);
    },
  };
}
