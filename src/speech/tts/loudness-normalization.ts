// Prepares synthesized speech for the telephone: trims the silence around it, and brings every voice to the same
// level. Works on whole utterances; nothing here runs per frame.

export interface NormalizedSpeech {
  samples: Int16Array;
  /** Milliseconds removed at the start. */
  cutMs: number;
}

/** Speech level: RMS of its active parts. Telephone speech is around -20 dBFS. */
const LEVEL = 32_768 * 10 ** (-19 / 20);
const PEAK_MAX = 31_000;
const GAIN_MAX = 8;
/** 10 ms at 8 kHz. */
const BLOCK_SAMPLES = 80;
/** A block counts as speech above this share of the loudest one (-34 dB). */
const ACTIVE_SHARE = 0.02;
const LEAD_BLOCKS = 2;
/** Silence kept at the start: the pause between two sentences belongs to the second one. */
const TAIL_BLOCKS = 18;

/** Works in place; the result is a view of `samples` (8 kHz). For silence the result is empty. */
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
  amplify(cut, activeLevel(levels.filter(active)));
  return { samples: cut, cutMs: from / 8 };
}

function blockLevels(samples: Int16Array): number[] {
  const levels: number[] = [];
  for (let from = 0; from < samples.length; from += BLOCK_SAMPLES) {
    const block = samples.subarray(from, from + BLOCK_SAMPLES);
    let sum = 0;
    for (const sample of block) sum += sample * sample;
    levels.push(Math.sqrt(sum / block.length));
  }
  return levels;
}

function activeLevel(levels: number[]): number {
  return Math.sqrt(levels.reduce((sum, level) => sum + level * level, 0) / levels.length);
}

function amplify(samples: Int16Array, level: number): void {
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 1);
  const gain = Math.min(LEVEL / level, PEAK_MAX / peak, GAIN_MAX);
  for (let i = 0; i < samples.length; i++) samples[i] = Math.round((samples[i] ?? 0) * gain);
}
