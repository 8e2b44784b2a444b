// The tone that hosted providers play to callers who wait for a place: a WAV file with 16-bit PCM at 8 kHz, which all of
// them take.

import { wavHeader } from '../../../audio/wav.ts';

const RATE_HZ = 8_000;
/** Length of the file: a caller gets a free place at its end. */
const SECONDS = 6;
/** Two soft tones in each file, of this length, pitch and level. */
const TONE_SECONDS = 0.35;
const TONE_AT_SECONDS = [0.2, 0.7];
const TONE_HZ = 440;
const LEVEL = 0.06 * 32_767;
const FADE_SECONDS = 0.03;

/** The whole file. */
export function waitingSound(): Buffer {
  const samples = new Int16Array(SECONDS * RATE_HZ);
  for (const atSeconds of TONE_AT_SECONDS) {
    const first = Math.round(atSeconds * RATE_HZ);
    const count = Math.round(TONE_SECONDS * RATE_HZ);
    for (let index = 0; index < count; index++) {
      const seconds = index / RATE_HZ;
      const fade = Math.min(1, seconds / FADE_SECONDS, (TONE_SECONDS - seconds) / FADE_SECONDS);
      samples[first + index] = Math.sin(2 * Math.PI * TONE_HZ * seconds) * LEVEL * fade;
    }
  }
  const pcm = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz: RATE_HZ, channels: 1, dataBytes: pcm.length }), pcm]);
}
