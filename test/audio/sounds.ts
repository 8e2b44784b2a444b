// What lines sound like, and how loud, for tests. A level in dBFS is that of the mean square against full scale: a
// square wave of 32,768 is 0, a full sine -3. Source: G.711 appendix II (why lines hiss).

import { gainOfDb } from '../../src/audio/gain.ts';
import { RATE_HZ, type SampleRateHz } from '../../src/audio/pcm.ts';
import type { ToneSamples } from '../../src/audio/tones/tone-generator.ts';
import { meanSquare } from './sine.ts';

/** The level of silence: below one step of a 16-bit sample. */
export const LEVEL_DBFS_MIN = -100;

const FULL_SCALE_ENERGY = 32_768 ** 2;

/** Level of the samples, LEVEL_DBFS_MIN..0; of none it is the least. */
export function levelDbfs(pcm: Int16Array): number {
  if (pcm.length === 0) return LEVEL_DBFS_MIN;
  return Math.max(LEVEL_DBFS_MIN, 10 * Math.log10(meanSquare(pcm) / FULL_SCALE_ENERGY));
}

/** A sine whose peak is `levelDbfs` against full scale (0 is the loudest). */
export function sine(of: { hz: number; levelDbfs: number; rateHz?: SampleRateHz }): ToneSamples {
  const step = (2 * Math.PI * of.hz) / (of.rateHz ?? RATE_HZ);
  const peak = 32_767 * gainOfDb(of.levelDbfs);
  let angle = 0;
  return {
    fill(pcm) {
      for (let i = 0; i < pcm.length; i++) {
        pcm[i] = Math.round(peak * Math.sin(angle));
        angle += step;
        if (angle > Math.PI) angle -= 2 * Math.PI;
      }
    },
  };
}

/** Quieter than a quiet line (-65 dBm0), louder than a dead one. */
const COMFORT_LEVEL_DBFS = -66;

/** A faint hiss of `levelDbfs` (mean square), falling off to the highs as lines do. `seed`: any whole
 *  number; equal seeds give equal noise. */
export function comfortNoise(of: { seed: number; levelDbfs?: number }): ToneSamples {
  // A one-pole low-pass of weight w lets w / (2 - w) of white noise's energy through; uniform white noise
  // has a third of its peak's.
  const weight = 0.5;
  const peak =
    32_768 * gainOfDb(of.levelDbfs ?? COMFORT_LEVEL_DBFS) * Math.sqrt((3 * (2 - weight)) / weight);
  const random = xorshift(of.seed);
  let smoothed = 0;
  return {
    fill(pcm) {
      for (let i = 0; i < pcm.length; i++) {
        smoothed += weight * (peak * random() - smoothed);
        pcm[i] = Math.round(smoothed);
      }
    },
  };
}

/** So many frames of a sound, taken one by one. */
export function taken(sound: ToneSamples, frames: number, frameSamples = 160): Int16Array {
  const pcm = new Int16Array(frames * frameSamples);
  for (let i = 0; i < frames; i++)
    sound.fill(pcm.subarray(i * frameSamples, (i + 1) * frameSamples));
  return pcm;
}

/** Marsaglia's xorshift, 32 bits: evenly distributed in -1..1. Never for secrets. */
export function xorshift(seed: number): () => number {
  let state = seed | 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state / 2_147_483_648;
  };
}
