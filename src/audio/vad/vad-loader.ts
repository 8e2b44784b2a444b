// Puts the speech detector together of what is present: the weights, which must be, and the fastest kernel.

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
import { INPUT_SAMPLES, type VadKernel, WEIGHTS } from './vad-kernel.ts';
import { portableVadKernel } from './vad-portable.ts';

const TEST_WINDOWS = 3;
/** Ten times what the widest instructions differ by, a hundredth of what a decision turns on. */
const DIFFERENCE_MAX = 1e-3;
const KERNELS: readonly VadKernel['name'][] = ['addon', 'wasm', 'portable'];

/** The detector on the fastest kernel that is present; `clock` for windows that wait for others. Throws as
 *  loadVadKernel does. */
export function loadVad(clock: Clock, folders = nativeFolders): VadModel {
  const kernel = loadVadKernel(folders);
  kernelInUse.reset();
  for (const name of KERNELS) if (name !== kernel.name) kernelInUse.set({ kernel: name }, 0);
  kernelInUse.set({ kernel: kernel.name, instructions: kernel.instructions }, 1);
  return batchedVad(kernel, clock);
}

/** Throws NATIVE_MISSING without the weights, and NATIVE_BROKEN if weights or kernels are not the ones of this
 *  version. */
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
  const portable = portableVadKernel(weights);
  if (kernels === undefined) return portable;
  const compiled = compiledVadKernel(kernels, weights);
  if (isAlike(compiled, portable)) return compiled;
  addKernelFault(`${compiled.name}: other speech probabilities with ${compiled.instructions}`);
  return portable;
}

/** Self-test of a compiled kernel: a few windows of one stream, each with what the windows before it left. */
export function isAlike(compiled: VadKernel, portable: VadKernel): boolean {
  for (let window = 0; window < TEST_WINDOWS; window++) {
    const [found, expected] = [compiled, portable].map((kernel) => {
      if (window === 0) kernel.clear(0);
      kernel.slots[0] = 0;
      for (let i = 0; i < INPUT_SAMPLES; i++) {
        kernel.windows[i] = 8_000 * Math.sin((i * (window + 3)) / 17);
      }
      kernel.hear(1);
      return kernel.probabilities[0] as number;
    }) as [number, number];
    if (!(Math.abs(found - expected) < DIFFERENCE_MAX)) return false;
  }
  return true;
}
