// Hours of sound that are no keys, frame by frame: noises, speech, music and what lines sound like. Each is
// made anew from the same seed; nothing is kept.

import { readdirSync, readFileSync } from 'node:fs';
import { FRAME_SAMPLES, RATE_HZ } from '../../src/audio/pcm.ts';
import { readWav } from '../../src/audio/wav.ts';
import { noise } from './sine.ts';

const FRAMES_AN_HOUR = 180_000;

/** `frame` is overwritten by the next. */
export type FrameTaker = (frame: Int16Array) => void;

/** The next sample, -1..1. */
type Voice = () => number;

function play(voiceOf: (second: number) => Voice, take: FrameTaker, frames = FRAMES_AN_HOUR): void {
  const frame = new Int16Array(FRAME_SAMPLES);
  let voice = voiceOf(0);
  for (let nth = 0; nth < frames; nth++) {
    if (nth % 50 === 0) voice = voiceOf(nth / 50);
    for (let i = 0; i < FRAME_SAMPLES; i++) {
      frame[i] = Math.max(-32_768, Math.min(32_767, Math.round(32_768 * voice())));
    }
    take(frame);
  }
}

/** White, brown (falling off to the highs) and crackling noise, of all levels up to clipping. */
export function hourOfNoise(take: FrameTaker): void {
  const random = noise(1);
  let brown = 0;
  const kinds: ((gain: number) => Voice)[] = [
    (gain) => () => gain * random(),
    (gain) => () => {
      brown += 0.05 * (random() - brown);
      return 8 * gain * brown;
    },
    (gain) => () => (random() > 0.98 ? 3 * gain * random() : 0.02 * gain * random()),
  ];
  play(
    (second) => (kinds[second % 3] as (gain: number) => Voice)(1.5 * 0.8 ** (second % 17)),
    take,
  );
}

/** The recorded voices again and again, each time faster or slower (which moves their pitch and formants) and
 *  louder or fainter; from the 30th minute on two at a time. */
export function hourOfSpeech(take: FrameTaker): void {
  const spoken = speech();
  const random = noise(2);
  const reader = (): Voice => {
    let at = Math.abs(random()) * spoken.length;
    const speed = 1 + 0.45 * random();
    const gain = 10 ** (-0.75 + 0.75 * random()) / 32_768;
    return () => {
      at += speed;
      if (at >= spoken.length - 1) at -= spoken.length - 1;
      const before = Math.floor(at);
      const from = spoken[before] as number;
      return gain * (from + ((spoken[before + 1] as number) - from) * (at - before));
    };
  };
  let voices = [reader(), reader()] as const;
  play((second) => {
    if (second % 20 === 0) voices = [reader(), reader()];
    const [one, other] = voices;
    return second < 1_800 ? one : () => one() + other();
  }, take);
}

function speech(): Int16Array {
  const callers = 'fixtures/audio/callers';
  const files = [
    'fixtures/audio/vad/speech.wav',
    ...readdirSync(callers).map((name) => `${callers}/${name}`),
  ];
  return Int16Array.from(files.flatMap((file) => [...readWav(readFileSync(file)).samples]));
}

const TABLE = 4_096;
/** One period of each instrument, by the loudness of its harmonics. */
const instruments = [
  [1, 0.5, 0.33, 0.25, 0.2],
  [1, 0, 0.33, 0, 0.2, 0, 0.14],
  [1, 0.7, 0.2],
].map((harmonics) =>
  Float64Array.from({ length: TABLE }, (_, i) =>
    harmonics.reduce(
      (sum, gain, k) => sum + gain * Math.sin((2 * Math.PI * (k + 1) * i) / TABLE),
      0,
    ),
  ),
);
const sineTable = Float64Array.from({ length: TABLE }, (_, i) =>
  Math.sin((2 * Math.PI * i) / TABLE),
);

function note(table: Float64Array, hz: number, gain: number): Voice {
  const step = (hz * TABLE) / RATE_HZ;
  let at = 0;
  return () => {
    at += step;
    if (at >= TABLE) at -= TABLE;
    return gain * (table[at | 0] as number);
  };
}

/** A chord a second, of one to four notes of a piano's middle four octaves, on three instruments. */
export function hourOfMusic(take: FrameTaker): void {
  const random = noise(3);
  play(() => {
    const table = instruments[Math.floor(Math.abs(random()) * 2.999)] as Float64Array;
    const count = 1 + Math.floor(Math.abs(random()) * 3.999);
    const notes = Array.from({ length: count }, () => {
      const key = Math.floor(Math.abs(random()) * 48);
      return note(table, 110 * 2 ** (key / 12), 0.12 + 0.08 * random());
    });
    return () => {
      let sum = 0;
      for (const each of notes) sum += each();
      return sum;
    };
  }, take);
}

/** What exchanges and machines sound like, as pairs of tones; the second may be none. Source: ITU-T E.180
 *  supplement 2, T.30, V.25, V.21, Telcordia GR-506. */
const linesHz: readonly (readonly [number, number])[] = [
  ...([
    [440, 480],
    [480, 620],
    [350, 440],
    [400, 450],
    [425, 0],
    [400, 425],
    [350, 450],
  ] as const),
  ...([
    [950, 0],
    [1_400, 0],
    [1_800, 0],
    [1_100, 0],
    [2_100, 0],
    [2_225, 0],
    [1_004, 0],
  ] as const),
  ...([
    [980, 1_180],
    [1_650, 1_850],
    [1_270, 1_070],
    [2_130, 2_750],
    [1_633, 0],
    [697, 0],
  ] as const),
  ...([
    [700, 900],
    [700, 1_100],
    [900, 1_100],
    [1_100, 1_700],
    [1_300, 1_500],
    [1_500, 1_700],
  ] as const),
];

/** Tones of lines, half a second on and half a second off, and tones that glide through all that is heard. */
export function hourOfTones(take: FrameTaker): void {
  const glide = (second: number): Voice => {
    let at = 0;
    let hz = 200 + 60 * (second % 40);
    const pace = (second % 7) / 20;
    return () => {
      hz = hz > 3_400 ? 200 : hz + pace;
      at = (at + (hz * TABLE) / RATE_HZ) % TABLE;
      return 0.4 * (sineTable[at | 0] as number);
    };
  };
  play((second) => {
    if (second % 2 === 1) return glide(second);
    const [low, high] = linesHz[(second / 2) % linesHz.length] as readonly [number, number];
    const first = note(sineTable, low, 0.2);
    const other = note(sineTable, high, high === 0 ? 0 : 0.2);
    let left = RATE_HZ / 2;
    return () => (left-- > 0 ? first() + other() : 0);
  }, take);
}
