// G.722 at 64 kbit/s: 16 kHz audio in two sub-bands of ADPCM, one byte per two samples. Both directions keep state:
// one codec per call. RFC 3551 gives it an RTP clock of 8 kHz. The arithmetic has several bit-exact builds: compiled
// (native/src/g722.c; WebAssembly or addon) and g722-portable. No loss concealment.

import { type NativeKernels, nativeKernels } from '../runtime/native-kernels.ts';
import type { Codec } from './codec.ts';
import { PortableG722 } from './g722-portable.ts';

/** Both directions of one call, each with its own state. */
export type G722Streams = Pick<Codec, 'decode' | 'encode'>;

/** A codec with its own state in both directions, on the fastest build that is present. Throws NATIVE_BROKEN
 *  as loadKernels does. */
export function createG722(streams: G722Streams = fastestStreams()): Codec {
  return {
    name: 'G722',
    rateHz: 16_000,
    frameBytes: 160,
    samplesIn: (payload) => payload.length * 2,
    decode: (payload, pcm) => streams.decode(payload, pcm),
    encode: (pcm, payload) => streams.encode(pcm, payload),
  };
}

function fastestStreams(): G722Streams {
  const kernels = nativeKernels();
  return kernels === undefined ? new PortableG722() : compiledG722(kernels);
}

/** Shared with native/src/g722.c: the state of one direction, and one block. */
interface Work {
  readonly state: Int32Array;
  readonly samples: Int16Array;
  readonly payload: Uint8Array;
  readonly bytesMax: number;
  readonly begin: () => number;
  readonly encode: (bytes: number) => number;
  readonly decode: (bytes: number) => number;
}

/** The addon has one memory per process, so its work buffer is shared too. */
const workIn = new WeakMap<NativeKernels, Work>();

/** The two directions of one call, in one instance of the kernels. Their state lives here and is copied in and out with
 *  each block, so that calls take no memory of the kernels and need no close. Throws NATIVE_BROKEN if the kernels lack
 *  G.722. */
export function compiledG722(kernels: NativeKernels): G722Streams {
  const work = workIn.get(kernels) ?? openWork(kernels);
  workIn.set(kernels, work);
  const { samples, payload: codes, bytesMax } = work;
  const encoder = begun(work);
  const decoder = begun(work);

  return {
    encode(pcm, payload) {
      const bytes = pcm.length >> 1;
      for (let from = 0; from < bytes; from += bytesMax) {
        const count = Math.min(bytesMax, bytes - from);
        const isWhole = pcm.length === 2 * count;
        samples.set(isWhole ? pcm : pcm.subarray(2 * from, 2 * (from + count)));
        work.state.set(encoder);
        work.encode(count);
        encoder.set(work.state);
        for (let i = 0; i < count; i++) payload[from + i] = codes[i] as number;
      }
      return bytes;
    },
    decode(payload, pcm) {
      const bytes = payload.length;
      for (let from = 0; from < bytes; from += bytesMax) {
        const count = Math.min(bytesMax, bytes - from);
        codes.set(count === bytes ? payload : payload.subarray(from, from + count));
        work.state.set(decoder);
        work.decode(count);
        decoder.set(work.state);
        for (let i = 0; i < 2 * count; i++) pcm[2 * from + i] = samples[i] as number;
      }
      return 2 * bytes;
    },
  };
}

/** The initial state of a direction. */
function begun({ begin, state }: Work): Int32Array {
  begin();
  return state.slice();
}

function openWork(kernels: NativeKernels): Work {
  const { memory } = kernels;
  const number = (name: string) => kernels.function(name)();
  const bytesMax = number('g722BytesMax');
  return {
    state: new Int32Array(memory, number('g722State'), number('g722StateBytes') / 4),
    samples: new Int16Array(memory, number('g722Samples'), 2 * bytesMax),
    payload: new Uint8Array(memory, number('g722Payload'), bytesMax),
    bytesMax,
    begin: kernels.function('g722Begin'),
    encode: kernels.function('g722Encode'),
    decode: kernels.function('g722Decode'),
  };
}
