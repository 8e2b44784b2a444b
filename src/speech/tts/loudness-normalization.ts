// Normalizes synthesized speech for the telephone: trims the silence around it, removes frequencies below the telephone
// band, and brings every voice to the same level. Works on whole sentences; nothing here runs per frame.

import { softLimited } from '../../audio/soft-limiter.ts';
import { highPass, telephoneBand } from '../../audio/telephone-band.ts';

export interface NormalizedSpeech {
  samples: Int16Array;
  /** Milliseconds that were removed at the start. */
  cutMs: number;
}

/** Speech level in the telephone band: RMS of its active parts. Telephone speech is around -20 dBFS. */
export const SPEECH_LEVEL = 32_768 * 10 ** (-19 / 20);
/** Cut-off below the telephone band. The fundamental of a voice is below it and has most of the energy, which would use
 *  up the headroom. */
const HIGH_PASS_HZ = 300;
const GAIN_MAX = 8;
/** 10 ms at 8 kHz. */
const BLOCK_SAMPLES = 80;
/** A block counts as speech above this share of the loudest one (-34 dB). */
const ACTIVE_SHARE = 0.02;
/** Silence kept at the start. */
const LEAD_BLOCKS = 2;
/** Silence kept at the end: most of the pause between two sentences. */
const TAIL_BLOCKS = 18;

/** Normalizes in place. The result is a view of `samples` (8 kHz); for silence it is empty. */
export function normalizeLoudness(samples: Int16Array): NormalizedSpeech {
  const levels = blockLevels(samples);
  const loudest = levels.reduce((most, level) => Math.max(most, level), 0);
  const threshold = loudest * ACTIVE_SHARE;
  const active = (level: number) => level > threshold;
  const first = levels.findIndex(active);
  if (first < 0) return { samples: samples.subarray(0, 0), cutMs: 0 };
  const last = levels.findLastIndex(active);
  const from = Math.max(0, first - LEAD_BLOCKS) * BLOCK_SAMPLES;
  const to = Math.min(samples.length, (last + 1 + TAIL_BLOCKS) * BLOCK_SAMPLES);
  const cut = samples.subarray(from, to);
  amplify(cut);
  return { samples: cut, cutMs: from / 8 };
}

function amplify(samples: Int16Array): void {
  const signal = Float64Array.from(samples);
  highPass(HIGH_PASS_HZ).process(signal);
  const gain = Math.min(SPEECH_LEVEL / Math.max(1, levelInBand(signal)), GAIN_MAX);
  for (let i = 0; i < samples.length; i++) samples[i] = softLimited((signal[i] as number) * gain);
}

/** RMS of the active parts in the telephone band; 0 for silence. */
function levelInBand(signal: Float64Array): number {
  const band = signal.slice();
  telephoneBand().process(band);
  const levels = blockLevels(band);
  const loudest = levels.reduce((most, level) => Math.max(most, level), 0);
  const active = levels.filter((level) => level > loudest * ACTIVE_SHARE);
  if (active.length === 0) return 0;
  return Math.sqrt(active.reduce((sum, level) => sum + level * level, 0) / active.length);
}

function blockLevels(samples: Int16Array | Float64Array): number[] {
  const levels: number[] = [];
  for (let from = 0; from < samples.length; from += BLOCK_SAMPLES) {
    const block = samples.subarray(from, from + BLOCK_SAMPLES);
    let sum = 0;
    for (const sample of block) sum += sample * sample;
    levels.push(Math.sqrt(sum / block.length));
  }
  return levels;
}
