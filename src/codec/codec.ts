// The interface of a codec: turns the payload of one packet into PCM and back. A codec holds no clock and no
// socket.

import type { SampleRateHz } from '../audio/pcm.ts';

export interface Codec {
  /** SDP encoding name (RFC 3551, table 4). */
  readonly name: string;
  readonly rateHz: SampleRateHz;
  /** Payload bytes of one 20 ms frame. */
  readonly frameBytes: number;
  /** Number of samples that `payload` decodes to. */
  samplesIn(payload: Uint8Array): number;
  /** Decodes into `pcm` (the caller's, long enough by `samplesIn`); returns the samples written.
   *  Any bytes decode; nothing is thrown. */
  decode(payload: Uint8Array, pcm: Int16Array): number;
  /** Encodes `samples` into `payload` (the caller's, long enough); returns the bytes written. */
  encode(samples: Int16Array, payload: Uint8Array): number;
}
