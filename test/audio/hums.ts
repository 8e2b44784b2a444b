// Hums with which people acknowledge ("mm hmm", "uh huh", "mhm", "hmm"), for tests: glottal pulses through the resonances
// of a closed and of an open mouth, with breath between two syllables, and nasal sounds of recorded people. No voice of a
// speech synthesizer, no words.
// Source: D. H. Klatt, Software for a cascade/parallel formant synthesizer (1980), for the resonators; A. E. Rosenberg,
// Effect of glottal pulse shape (1971), for the pulses.

import { readFileSync } from 'node:fs';
import { RATE_HZ } from '../../src/audio/pcm.ts';
import { readWav } from '../../src/audio/wav.ts';
import { xorshift } from './sounds.ts';

export interface Hum {
  name: string;
  /** 8 kHz, from its onset to its end; its level is to be set. */
  pcm: Int16Array;
}

interface Speaker {
  name: string;
  pitchHz: number;
  /** Factor of the resonances: a shorter throat has higher ones. */
  scale: number;
}

interface Syllable {
  mouth: keyof typeof MOUTHS;
  ms: number;
  /** Factors of the speaker's pitch, at the beginning and at the end. */
  pitch: readonly [number, number];
  /** Breath before it. */
  breathMs: number;
}

const SPEAKERS: readonly Speaker[] = [
  { name: 'low', pitchHz: 88, scale: 0.95 },
  { name: 'middle', pitchHz: 124, scale: 1 },
  { name: 'high', pitchHz: 196, scale: 1.12 },
  { name: 'highest', pitchHz: 245, scale: 1.2 },
];

/** Resonances: frequency, bandwidth, gain. A closed mouth passes little above 1 kHz. */
const MOUTHS = {
  closed: [
    [270, 70, 1],
    [1_050, 160, 0.22],
    [2_250, 240, 0.08],
  ],
  open: [
    [640, 90, 1],
    [1_190, 110, 0.6],
    [2_480, 170, 0.2],
  ],
} as const;

const syllable = (mouth: Syllable['mouth'], ms: number, rest: Partial<Syllable>): Syllable => ({
  mouth,
  ms,
  pitch: [1, 1] as const,
  breathMs: 0,
  ...rest,
});

const HUMS: Readonly<Record<string, readonly Syllable[]>> = {
  'mm hmm': [
    syllable('closed', 170, { pitch: [1, 0.92] }),
    syllable('closed', 240, { pitch: [1.02, 1.28], breathMs: 60 }),
  ],
  'uh huh': [
    syllable('open', 150, { pitch: [1, 0.93] }),
    syllable('open', 230, { pitch: [1.05, 1.25], breathMs: 70 }),
  ],
  mhm: [syllable('closed', 80, {}), syllable('closed', 150, { pitch: [1, 1.1], breathMs: 45 })],
  hmm: [syllable('closed', 380, { pitch: [1.1, 0.8], breathMs: 50 })],
  'mm mm mm': [
    syllable('closed', 130, {}),
    syllable('closed', 130, { breathMs: 70 }),
    syllable('closed', 160, { pitch: [1, 0.9], breathMs: 70 }),
  ],
};

/** Steady sounds within words of recordings ("four", "man", "been", "him"): the file of fixtures/audio/human, where the sound
 *  begins, its length, and its pitch. */
const STEADY: readonly { file: string; atMs: number; ms: number; pitchHz: number }[] = [
  { file: 'cards-002', atMs: 320, ms: 180, pitchHz: 115 },
  { file: 'librivox-0870', atMs: 1_415, ms: 100, pitchHz: 114 },
  { file: 'librivox-0880', atMs: 1_855, ms: 120, pitchHz: 95 },
  { file: 'librivox-0890', atMs: 815, ms: 90, pitchHz: 108 },
  { file: 'librivox-0920', atMs: 1_140, ms: 160, pitchHz: 94 },
  { file: 'librivox-0930', atMs: 2_125, ms: 110, pitchHz: 98 },
];
const PER_MS = RATE_HZ / 1_000;
const FADE_SAMPLES = 20 * PER_MS;

/** Four synthetic speakers with five hums each, and six recorded sounds as two hums each. */
export function hums(): Hum[] {
  const synthetic = SPEAKERS.flatMap((speaker) =>
    Object.entries(HUMS).map(([name, syllables], nth) => ({
      name: `${name}, ${speaker.name}`,
      pcm: hummed(speaker, syllables, nth + 1),
    })),
  );
  const recorded = STEADY.flatMap((sound) => {
    const voice = steadyVoice(sound);
    return [
      {
        name: `two syllables of ${sound.file}`,
        pcm: joined([voice(160, 1), voice(230, 1.15)], 60),
      },
      { name: `one syllable of ${sound.file}`, pcm: voice(320, 0.9) },
    ];
  });
  return [...synthetic, ...recorded];
}

function hummed(speaker: Speaker, syllables: readonly Syllable[], seed: number): Int16Array {
  const random = xorshift(seed * 7_919);
  const parts = syllables.flatMap((each) => [
    ...(each.breathMs > 0 ? [breath(speaker, each, random)] : []),
    voiced(speaker, each, random),
  ]);
  return joined(parts, 0);
}

/** A syllable: pulses whose pitch glides, through the mouth's resonances. */
function voiced(
  speaker: Speaker,
  { mouth, ms, pitch }: Syllable,
  random: () => number,
): Int16Array {
  const source = new Float64Array(ms * PER_MS);
  let phase = 0;
  let hz = speaker.pitchHz;
  for (let i = 0; i < source.length; i++) {
    const glide = pitch[0] + ((pitch[1] - pitch[0]) * i) / source.length;
    phase += hz / RATE_HZ;
    if (phase >= 1) {
      phase -= 1;
      // No two periods of a throat are equal.
      hz = speaker.pitchHz * glide * (1 + 0.012 * random());
    }
    source[i] = pulse(phase) + 0.004 * random();
  }
  return shaped(source, speaker, mouth, 1);
}

/** Air through the same mouth, between two syllables. */
function breath(speaker: Speaker, { mouth, breathMs }: Syllable, random: () => number): Int16Array {
  const source = Float64Array.from({ length: breathMs * PER_MS }, () => random());
  return shaped(source, speaker, mouth, 0.12);
}

/** The flow of one period, differentiated: it opens slowly and closes at once. */
function pulse(phase: number): number {
  const [opens, closes] = [0.4, 0.16];
  if (phase < opens) return 0.5 * (Math.PI / opens) * Math.sin((Math.PI * phase) / opens) * 0.1;
  if (phase >= opens + closes) return 0;
  const half = Math.PI / (2 * closes);
  return -half * Math.sin(half * (phase - opens)) * 0.1;
}

/** Through the resonances, side by side, to a peak of `level`. */
function shaped(
  source: Float64Array,
  { scale }: Speaker,
  mouth: Syllable['mouth'],
  level: number,
): Int16Array {
  const sum = new Float64Array(source.length);
  for (const [hz, bandwidthHz, gain] of MOUTHS[mouth]) {
    const radius = Math.exp((-Math.PI * bandwidthHz) / RATE_HZ);
    const first = 2 * radius * Math.cos((2 * Math.PI * hz * scale) / RATE_HZ);
    let [before, last] = [0, 0];
    for (let i = 0; i < source.length; i++) {
      const next = (source[i] ?? 0) * gain + first * last - radius * radius * before;
      [before, last] = [last, next];
      sum[i] = (sum[i] ?? 0) + next;
    }
  }
  const peak = sum.reduce((most, each) => Math.max(most, Math.abs(each)), 1e-9);
  return faded(Int16Array.from(sum, (each) => Math.round((12_000 * level * each) / peak)));
}

/** A recorded sound of any length and pitch: whole periods of it, again and again, forwards and backwards in turn. */
function steadyVoice({ file, atMs, ms, pitchHz }: (typeof STEADY)[number]) {
  const { samples } = readWav(readFileSync(`fixtures/audio/human/${file}.wav`));
  const periodSamples = RATE_HZ / pitchHz;
  const periods = Math.floor((ms * PER_MS) / periodSamples);
  const from = atMs * PER_MS;
  const sound = samples.subarray(from, from + Math.round(periods * periodSamples));
  return (lengthMs: number, pitch: number): Int16Array => {
    const turned = 2 * (sound.length - 1);
    const out = Int16Array.from({ length: lengthMs * PER_MS }, (_, i) => {
      const at = (i * pitch) % turned;
      return sound[Math.round(at < sound.length ? at : turned - at)] ?? 0;
    });
    return faded(out);
  };
}

function faded(pcm: Int16Array): Int16Array {
  const length = Math.min(FADE_SAMPLES, pcm.length >> 1);
  for (let i = 0; i < length; i++) {
    pcm[i] = Math.round(((pcm[i] ?? 0) * i) / length);
    const last = pcm.length - 1 - i;
    pcm[last] = Math.round(((pcm[last] ?? 0) * i) / length);
  }
  return pcm;
}

function joined(parts: readonly Int16Array[], pauseMs: number): Int16Array {
  const pause = pauseMs * PER_MS;
  const length = parts.reduce((sum, part) => sum + part.length + pause, -pause);
  const pcm = new Int16Array(length);
  let at = 0;
  for (const part of parts) {
    pcm.set(part, at);
    at += part.length + pause;
  }
  return pcm;
}
