// Collects the caller's frames into packets and encodes them for a recogniser. A packet takes all frames that arrive
// together with the one that completes it: a busy process reads four at a time, and a remainder would wait for the next
// four. An incomplete packet is sent when the voice ends.

import { ulaw } from '../../audio/companding.ts';
import { copySamples, RATE_HZ } from '../../audio/pcm.ts';
import { createResampler, type Resampler } from '../../audio/resample/resampler.ts';

/** µ-law at 8 kHz, or signed 16-bit PCM, little-endian, at the given rate. */
export type SttAudioFormat = 'ulaw8' | 's16@8000' | 's16@16000' | 's16@24000';

export interface AudioPacketsOptions {
  format: SttAudioFormat;
  /** Shortest packet in milliseconds, 20 to 200. Services accept 60 to 100. */
  packetMs: number;
  /** Shortest last packet that the service accepts, in milliseconds. Default: any length. */
  restMsMin?: number | undefined;
  /** Receives each packet and owns it. */
  send: (packet: Uint8Array) => void;
}

/** Longest extension of a packet by frames that arrive together. Services recommend at most 250 ms. */
const MORE_MS_MAX = 60;
const PACKET_MS_MAX = 200;

export class AudioPackets {
  readonly #options: AudioPacketsOptions;
  readonly #resampler: Resampler | undefined;
  readonly #samples: Int16Array;
  /** Samples of the next packet: a full one, or the shortest one while a too short remainder waits. */
  #wanted: number;
  #filled = 0;
  #isComplete = false;
  /** Error of a packet that was sent after its `push` returned. */
  #fault: { error: unknown } | undefined;

  constructor(options: AudioPacketsOptions) {
    this.#options = options;
    const toHz = RATES[options.format];
    const { packetMs } = options;
    const mostMs = Math.max(packetMs, Math.min(PACKET_MS_MAX, packetMs + MORE_MS_MAX));
    this.#wanted = samplesOf(packetMs);
    this.#samples = new Int16Array(samplesOf(mostMs));
    if (toHz !== RATE_HZ) this.#resampler = createResampler({ fromHz: RATE_HZ, toHz });
  }

  /** Adds a frame, 8 kHz, any length; borrowed. Throws the error of an earlier packet's `send`, since nothing outside a
   *  call would catch it. */
  push(frame: Int16Array): void {
    if (this.#fault !== undefined) {
      const { error } = this.#fault;
      this.#fault = undefined;
      throw error;
    }
    for (let from = 0; from < frame.length; ) {
      const count = Math.min(frame.length - from, this.#samples.length - this.#filled);
      copySamples(frame, from, this.#samples, this.#filled, count);
      this.#filled += count;
      from += count;
      if (this.#filled === this.#samples.length) this.#send();
    }
    if (this.#filled < this.#wanted || this.#isComplete) return;
    this.#isComplete = true;
    queueMicrotask(this.#flushLater);
  }

  /** Sends the collected samples if they fill a packet: before a message that must follow it. */
  readonly flushComplete = (): void => {
    if (this.#isComplete) this.#send();
  };

  readonly #flushLater = (): void => {
    try {
      this.flushComplete();
    } catch (error) {
      this.#fault = { error };
    }
  };

  /** Sends the collected samples, now or once they are long enough for the service. */
  flush(): void {
    const { restMsMin = 0 } = this.#options;
    const least = samplesOf(restMsMin);
    if (this.#filled >= least) this.#send();
    else if (this.#filled > 0) this.#wanted = least;
  }

  #send(): void {
    if (this.#filled === 0) return;
    const part = this.#samples.subarray(0, this.#filled);
    this.#filled = 0;
    this.#isComplete = false;
    this.#wanted = samplesOf(this.#options.packetMs);
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
    // All platforms of Node.js are little-endian.
    return new Uint8Array(pcm.buffer.slice(pcm.byteOffset, pcm.byteOffset + pcm.byteLength));
  }
}

function samplesOf(ms: number): number {
  return (ms * RATE_HZ) / 1_000;
}

const RATES = {
  ulaw8: 8_000,
  's16@8000': 8_000,
  's16@16000': 16_000,
  's16@24000': 24_000,
} as const;
