// Synthesized callers for measuring the embedded recogniser: the voices of Flite, and of eSpeak NG where its program is
// installed, at several speeds, through the telephone band, G.711 and noise. No human voices.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { alaw, ulaw } from '../../../src/audio/companding.ts';
import { createResampler } from '../../../src/audio/resample/resampler.ts';
import { telephoneBand } from '../../../src/audio/telephone-band.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { createFlite } from '../../../src/speech/tts/flite/flite.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { comfortNoise } from '../../audio/sounds.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { at } from '../../pipeline/real-call.ts';

export interface Speaker {
  name: string;
  engine: 'flite' | 'espeak';
  /** For a calibration: not to be used to set the scale, so that it can be checked with them. */
  isHeldOut: boolean;
  /** 8 kHz, without a channel. */
  say(text: string): Promise<Int16Array>;
}

export interface Channel {
  name: string;
  law: 'a-law' | 'u-law';
  /** Level of the speech. */
  levelDb: number;
  noiseDb: number;
}

export const CHANNELS: readonly Channel[] = [
  { name: 'clean', law: 'u-law', levelDb: -20, noiseDb: -70 },
  { name: 'quiet speech', law: 'a-law', levelDb: -32, noiseDb: -62 },
  { name: 'noise at 20 dB', law: 'a-law', levelDb: -20, noiseDb: -40 },
  { name: 'loud, noise at 25 dB', law: 'u-law', levelDb: -14, noiseDb: -39 },
];

/** Silence before and after the speech, as the recogniser gets it. */
const BEFORE_SAMPLES = 3_600;
const AFTER_SAMPLES = 2_400;
const PROGRAM_MS_MAX = 10_000;
const run = promisify(execFile);

/** What the recogniser gets of `pcm`. `seed`: equal seeds give equal noise. */
export function throughChannel(pcm: Int16Array, channel: Channel, seed: number): Int16Array {
  const signal = Float64Array.from(pcm);
  telephoneBand().process(signal);
  const speech = at(Int16Array.from(signal, Math.round), channel.levelDb);
  const line = new Int16Array(BEFORE_SAMPLES + speech.length + AFTER_SAMPLES);
  comfortNoise({ seed, levelDbfs: channel.noiseDb }).fill(line);
  const { codes, samples } = channel.law === 'a-law' ? alaw : ulaw;
  for (let i = 0; i < line.length; i++) {
    const sum = (line[i] ?? 0) + (speech[i - BEFORE_SAMPLES] ?? 0);
    const bounded = Math.max(-32_768, Math.min(32_767, sum));
    line[i] = samples[codes[bounded & 0xffff] ?? 0] ?? 0;
  }
  return line;
}

/** `speed`: 1.1 is faster and higher by a tenth, as a resampled voice is. */
const FLITE: readonly [voice: string, speed: 'normal' | 'slow' | 'fast', isHeldOut: boolean][] = [
  ['slt', 'normal', false],
  ['slt', 'slow', false],
  ['rms', 'normal', false],
  ['rms', 'fast', false],
  ['kal16', 'normal', false],
  ['kal16', 'slow', false],
  ['awb', 'normal', true],
  ['awb', 'slow', true],
  ['kal', 'normal', true],
  ['rms', 'slow', true],
];
const SPEEDS = {
  normal: undefined,
  slow: { fromHz: 11_025, toHz: 12_000 },
  fast: { fromHz: 12_000, toHz: 11_025 },
} as const;

/** The voice, its words a minute, and whether it is held out. */
const ESPEAK: readonly [voice: string, wordsPerMinute: number, isHeldOut: boolean][] = [
  ['en-us', 150, false],
  ['en-us+f3', 140, false],
  ['en-gb+m3', 155, false],
  ['en-gb-x-rp+f2', 150, false],
  ['en-us+klatt4', 150, false],
  ['en-us+Andy', 145, true],
  ['en-us+linda', 150, true],
  ['en-gb-scotland', 150, true],
  ['en-gb+f4', 165, true],
];

export interface Speakers {
  list: readonly Speaker[];
  /** By eSpeak in a language of its own; undefined without its program. */
  foreign: ((language: string, text: string) => Promise<Int16Array>) | undefined;
  close(): Promise<void>;
}

export async function openSpeakers(): Promise<Speakers> {
  const flite = await createFlite({ clock: systemClock, log: quietLog().log, workers: 1 });
  const { signal } = new AbortController();
  const byFlite = FLITE.map(([voice, speed, isHeldOut]): Speaker => {
    const rates = SPEEDS[speed];
    return {
      name: `flite ${voice} ${speed}`,
      engine: 'flite',
      isHeldOut,
      async say(text) {
        const pieces: Int16Array[] = [];
        const onAudio = (samples: Int16Array) => pieces.push(samples.slice());
        await flite.synthesize({ text, voice }, { onAudio, onWords: () => 0 }, signal);
        const pcm = pieces[0] ?? new Int16Array();
        return rates === undefined ? pcm : createResampler(rates).process(pcm).slice();
      },
    };
  });
  const hasEspeak = await run('espeak-ng', ['--version'], { timeout: PROGRAM_MS_MAX }).then(
    () => true,
    () => false,
  );
  const byEspeak = ESPEAK.map(
    ([voice, wordsPerMinute, isHeldOut]): Speaker => ({
      name: `espeak ${voice} ${wordsPerMinute}`,
      engine: 'espeak',
      isHeldOut,
      say: (text) => espeak(voice, wordsPerMinute, text),
    }),
  );
  return {
    list: hasEspeak ? [...byFlite, ...byEspeak] : byFlite,
    foreign: hasEspeak ? (language, text) => espeak(language, 150, text) : undefined,
    close: () => flite.close(),
  };
}

async function espeak(voice: string, wordsPerMinute: number, text: string): Promise<Int16Array> {
  const args = ['-v', voice, '-s', String(wordsPerMinute), '--stdout', text];
  const options = { encoding: 'buffer', timeout: PROGRAM_MS_MAX, maxBuffer: 8_000_000 } as const;
  const { stdout } = await run('espeak-ng', args, options);
  const { rateHz, samples } = readWav(stdout);
  return createResampler({ fromHz: rateHz, toHz: 8_000 }).process(samples).slice();
}
