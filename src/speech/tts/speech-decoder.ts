// Decodes the audio of a synthesiser to samples at 8 kHz, in chunks of any size. A chunk may end within a sample.

import { ulaw } from '../../audio/companding.ts';
import { RATE_HZ } from '../../audio/pcm.ts';
import { createResampler, type Resampler } from '../../audio/resample/resampler.ts';

/** µ-law at 8 kHz, or signed 16-bit PCM, little-endian, at a rate of `RESAMPLED_RATES`. */
export type TtsAudioFormat = 'ulaw8' | `s16@${number}`;

export class SpeechDecoder {
  readonly #isUlaw: boolean;
  readonly #resampler: Resampler | undefined;
  /** First byte of a sample whose second byte has not arrived. */
  #odd: number | undefined;

  constructor(format: TtsAudioFormat) {
    this.#isUlaw = format === 'ulaw8';
    const fromHz = format === 'ulaw8' ? RATE_HZ : Number(format.slice('s16@'.length));
    if (fromHz !== RATE_HZ) this.#resampler = createResampler({ fromHz, toHz: RATE_HZ });
  }

  /** Returns the samples that `bytes` completes; they belong to the caller. */
  decode(bytes: Uint8Array): Int16Array {
    if (this.#isUlaw) {
      const samples = new Int16Array(bytes.length);
      for (let i = 0; i < bytes.length; i++) {
        samples[i] = ulaw.samples[bytes[i] as number] as number;
      }
      return samples;
    }
    const pcm = this.#pcm(bytes);
    return this.#resampler === undefined ? pcm : this.#resampler.process(pcm).slice();
  }

  #pcm(bytes: Uint8Array): Int16Array {
    const odd = this.#odd;
    const length = bytes.length + (odd === undefined ? 0 : 1);
    const whole = new Uint8Array(length & ~1);
    if (whole.length > 0) {
      if (odd !== undefined) whole[0] = odd;
      const at = odd === undefined ? 0 : 1;
      whole.set(bytes.subarray(0, whole.length - at), at);
    }
    if (length % 2 === 0) this.#odd = undefined;
    else if (bytes.length > 0) this.#odd = bytes[bytes.length - 1];
    return new Int16Array(whole.buffer);
  }
}
