// What a caller's telephone line brings: recorded voices at given times, noise, and the agent's own voice
// coming back. Frame by frame, 8 kHz; it is no codec and knows no call.

import { gainOfDb } from '../../../src/audio/gain.ts';
import { FRAME_SAMPLES, RATE_HZ } from '../../../src/audio/pcm.ts';
import type { ToneSamples } from '../../../src/audio/tones/tone-generator.ts';
import type { FarEnd } from './far-end.ts';

const PER_MS = RATE_HZ / 1_000;
/** An earpiece and a room: little below 300 Hz, falling above 2 kHz. */
const ROOM_LOW = 0.8;
const ROOM_HIGH = 0.55;

export interface EchoPath {
  /** How much louder (below 0: fainter) than the agent. */
  db: number;
  delayMs: number;
}

export class CallerLine {
  /** What was sent, and when its first sample was. */
  readonly sent: number[] = [];
  startMs = Number.NaN;
  noise: ToneSamples | undefined;
  echo: EchoPath | undefined;
  readonly #farEnd: FarEnd;
  readonly #sounds: { pcm: Int16Array; at: number }[] = [];
  readonly #added = new Int16Array(FRAME_SAMPLES);
  readonly #frame = new Int16Array(FRAME_SAMPLES);
  #smooth = 0;
  #slow = 0;

  constructor(farEnd: FarEnd) {
    this.#farEnd = farEnd;
  }

  /** `pcm` is heard from `atMs` on. */
  play(pcm: Int16Array, atMs: number): void {
    this.#sounds.push({ pcm, at: Math.round(atMs * PER_MS) });
  }

  /** The 20 ms before `nowMs`; borrowed until the next call. */
  frameBefore(nowMs: number): Int16Array {
    const from = Math.round(nowMs * PER_MS) - FRAME_SAMPLES;
    if (this.sent.length === 0) this.startMs = nowMs - FRAME_SAMPLES / PER_MS;
    this.#frame.fill(0);
    if (this.noise !== undefined) this.noise.fill(this.#frame);
    for (const { pcm, at } of this.#sounds) this.#mix(pcm, from - at);
    if (this.echo !== undefined) this.#addEcho(this.echo, nowMs);
    for (const sample of this.#frame) this.sent.push(sample);
    return this.#frame;
  }

  #mix(pcm: Int16Array, from: number): void {
    for (let i = Math.max(0, -from); i < FRAME_SAMPLES && from + i < pcm.length; i++) {
      this.#put(i, pcm[from + i] as number);
    }
  }

  #addEcho({ db, delayMs }: EchoPath, nowMs: number): void {
    this.#farEnd.heard(nowMs - delayMs - FRAME_SAMPLES / PER_MS, this.#added);
    const gain = gainOfDb(db);
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      const sample = (this.#added[i] as number) * gain;
      this.#smooth += ROOM_HIGH * (sample - this.#smooth);
      this.#slow += (1 - ROOM_LOW) * (this.#smooth - this.#slow);
      this.#put(i, 1.3 * (this.#smooth - 0.7 * this.#slow));
    }
  }

  #put(i: number, sample: number): void {
    const sum = Math.round((this.#frame[i] as number) + sample);
    this.#frame[i] = Math.max(-32_768, Math.min(32_767, sum));
  }
}
