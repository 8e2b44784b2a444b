// Voice activity detection: how likely the last 32 ms were speech. What counts as the begin or the end of
// speech is decided in pipeline/, from these numbers.
// Source: Silero VAD v6 (MIT; native/NOTICE.md), its 8 kHz network, by our own forward pass.

import { GatewayError } from '../errors.ts';
import { kernelInUse } from '../metrics.ts';
import { loadKernels, nativeFolders, readArtefact } from './native.ts';
import { STREAMS_MAX, type VadKernel, WEIGHTS, WINDOW_SAMPLES } from './vad-kernel.ts';
import { portableVadKernel } from './vad-portable.ts';
import { wasmVadKernel } from './vad-wasm.ts';

/** Samples of one window: 32 ms at 8 kHz. */
export const VAD_WINDOW_SAMPLES = WINDOW_SAMPLES;

export interface VadModel {
  readonly kernel: VadKernel['name'];
  /** A detector for one new stream. Throws QUEUE_FULL when STREAMS_MAX (2,048) are open. */
  open(): VadStream;
}

export interface VadStream {
  /** Hears the next VAD_WINDOW_SAMPLES (borrowed) of the stream; the probability of speech, 0..1. */
  process(window: Int16Array): number;
  /** Forgets what was heard: the next window begins a new stream. */
  reset(): void;
  /** Gives the stream's memory to the next one. A second call does nothing; `process` and `reset` after it
   *  throw a plain Error, for they would hear another call. */
  close(): void;
}

/** The detector on the fastest kernel that is present. Throws NATIVE_MISSING without the weights, and
 *  NATIVE_BROKEN if weights or kernels are not the ones of this version. */
export function loadVad(folders = nativeFolders): VadModel {
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
  const kernel =
    kernels === undefined ? portableVadKernel(weights) : wasmVadKernel(kernels, weights);
  for (const name of ['wasm', 'portable']) {
    kernelInUse.set({ kernel: name }, name === kernel.name ? 1 : 0);
  }
  return vadModel(kernel);
}

/** Streams on `kernel`; slots of closed streams are used again, last closed first. */
export function vadModel(kernel: VadKernel): VadModel {
  const free = Array.from({ length: STREAMS_MAX }, (_, i) => STREAMS_MAX - 1 - i);
  return {
    kernel: kernel.name,
    open() {
      const slot = free.pop();
      if (slot === undefined) throw new GatewayError('QUEUE_FULL', { queue: 'of VAD streams' });
      kernel.clear(slot);
      return openStream(kernel, slot, () => free.push(slot));
    },
  };
}

function openStream(kernel: VadKernel, slot: number, release: () => void): VadStream {
  let open = true;
  function assertOpen(): void {
    if (!open) throw new Error('this VAD stream is closed');
  }
  return {
    process(window) {
      assertOpen();
      if (window.length !== WINDOW_SAMPLES) throw new Error('a VAD window has 256 samples');
      return kernel.process(slot, window);
    },
    reset() {
      assertOpen();
      kernel.clear(slot);
    },
    close() {
      if (!open) return;
      open = false;
      release();
    },
  };
}
