// Puts the speech detector together of what is present: the weights, which must be, and the fastest kernel.

import { GatewayError } from '../../errors/gateway-error.ts';
import { kernelInUse } from '../../metrics/metrics.ts';
import { loadKernels, nativeFolders, readArtefact } from '../../runtime/native-kernels.ts';
import type { Clock } from '../../std/clock.ts';
import type { VadModel } from './vad.ts';
import { batchedVad } from './vad-batch.ts';
import { compiledVadKernel } from './vad-compiled.ts';
import { type VadKernel, WEIGHTS } from './vad-kernel.ts';
import { portableVadKernel } from './vad-portable.ts';

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
  return kernels === undefined ? portableVadKernel(weights) : compiledVadKernel(kernels, weights);
}
