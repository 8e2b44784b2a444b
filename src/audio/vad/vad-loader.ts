// Loads the voice activity detector: the weights, which must be present, and the fastest kernel that is.

import { GatewayError } from '../../errors/gateway-error.ts';
import { kernelInUse } from '../../metrics/metrics.ts';
import {
  addKernelFault,
  loadKernels,
  nativeFolders,
  readArtefact,
} from '../../runtime/native-kernels.ts';
import type { Clock } from '../../std/clock.ts';
import type { VadModel } from './vad.ts';
import { batchedVad } from './vad-batch.ts';
import { compiledVadKernel } from './vad-compiled.ts';
import { INPUT_SAMPLES, type VadKernel, WEIGHTS, WINDOW_SAMPLES } from './vad-kernel.ts';
import { portableVadKernel } from './vad-portable.ts';

/** The portable kernel's results for the windows of `isSound` (the self-test). */
const EXPECTED = [0.225_052, 0.259_366, 0.153_757, 0.655_694];
/** Ten times the difference between instruction sets, and a hundredth of what would change a decision. */
const DIFFERENCE_MAX = 1e-3;
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
