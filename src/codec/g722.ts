// G.722 at 64 kbit/s: 16 kHz audio in two sub-bands of ADPCM, one byte per two samples. Both directions keep state:
// one codec per call. RFC 3551 gives it an RTP clock of 8 kHz. The arithmetic has several bit-exact builds:
// g722-compiled (native/src/g722.c) and g722-portable. No loss concealment.

import { nativeKernels } from '../runtime/native-kernels.ts';
import type { Codec } from './codec.ts';
import { compiledG722 } from './g722-compiled.ts';
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
