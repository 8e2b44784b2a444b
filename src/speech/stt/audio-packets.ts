// Audio for recognisers: the caller's frames are collected into packets and encoded as the service wants them. What
// waits for a full packet goes out when the voice ends.

import { ulaw } from '../../audio/companding.ts';
import { RATE_HZ } from '../../audio/pcm.ts';
import { createResampler, type Resampler } from '../../audio/resample/resampler.ts';

/** µ-law at 8 kHz, or signed 16-bit PCM, little-endian, at a rate. */
export type SttAudioFormat = 'ulaw8' | 's16@8000' | 's16@16000' | 's16@24000';

export interface AudioPacketsOptions {
  format: SttAudioFormat;
  /** 20 to 200. Services take 60 to 100. */
  packetMs: number;
  /** The receiver keeps `packet`. */
  send: (packet: Uint8Array) => void;
}

export class AudioPackets {
  readonly #options: AudioPacketsOptions;
  readonly #resampler: Resampler | undefined;
  readonly #samples: Int16Array;
  #filled = 0;

  constructor(options: AudioPacketsOptions) {
    this.#options = options;
    const toHz = RATES[options.format];
    this.#samples = new Int16Array((options.packetMs * RATE_HZ) / 1_000);
    if (toHz !== RATE_HZ) this.#resampler = createResampler({ fromHz: RATE_HZ, toHz });
  }

  /** 8 kHz, any length; borrowed. */
  push(frame: Int16Array): void {
    for (let from = 0; from < frame.length; ) {
      const count = Math.min(frame.length - from, this.#samples.length - this.#filled);
      this.#samples.set(frame.subarray(from, from + count), this.#filled);
      this.#filled += count;
      from += count;
      if (this.#filled === this.#samples.length) this.flush();
    }
  }

  /** Sends what waits. */
  flush(): void {
    if (this.#filled === 0) return;
    const part = this.#samples.subarray(0, this.#filled);
    this.#filled = 0;
    this.#options.send(this.#encode(part));
  }

  #encode(samples: Int16Array): Uint8Array {
    if (this.#options.format === 'ulaw8') {
      const packet = new Uint8Array(samples.length);
      for (let i = 0; i < samples.length; i++) {
        packet[i] = ulaw.codes[(samples[i] as number) & 0xffff] as number;
      }
      return packet;
    }
    const pcm = this.#resampler === undefined ? samples : this.#resampler.process(samples);
    // Every platform of Node.js is little-endian.
    return new Uint8Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.byteLength));
  }
}

const RATES = {
  ulaw8: 8_000,
  's16@8000': 8_000,
  's16@16000': 16_000,
  's16@24000': 24_000,
} as const;
