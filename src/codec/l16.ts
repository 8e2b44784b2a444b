// Linear 16-bit PCM, little endian, mono. RFC 3551 (4.5.11) asks for network byte order in RTP; the media
// websockets that carry L16 (Asterisk, Vonage, Plivo) and AudioSocket use little endian, and so does this codec.

import type { SampleRateHz } from '../audio/pcm.ts';
import type { Codec } from './codec.ts';

function linear(name: string, rateHz: SampleRateHz): Codec {
  return {
    name,
    rateHz,
    frameBytes: rateHz / 25,
    // An odd byte at the end is half a sample and is dropped.
    samplesIn: (payload) => payload.length >> 1,
    decode(payload, pcm) {
      const count = payload.length >> 1;
      for (let i = 0; i < count; i++) {
        pcm[i] = (payload[2 * i] as number) | ((payload[2 * i + 1] as number) << 8);
      }
      return count;
    },
    encode(pcm, payload) {
      const count = pcm.length;
      for (let i = 0; i < count; i++) {
        const sample = pcm[i] as number;
        payload[2 * i] = sample;
        payload[2 * i + 1] = sample >> 8;
      }
      return 2 * count;
    },
  };
}

export const l16 = linear('L16', 8_000);
export const l16Wide = linear('L16/16000', 16_000);
