// Lines that spoil speech, for tests and benchmarks: several people who talk beside the caller, a street, GSM's speech codec,
// and packets lost on the way, which the gateway conceals. In the telephone band, by G.711, at 8 kHz.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { gainOfDb, levelDb } from '../../src/audio/gain.ts';
import { FRAME_SAMPLES, RATE_HZ } from '../../src/audio/pcm.ts';
import { telephoneBand } from '../../src/audio/telephone-band.ts';
import { readWav } from '../../src/audio/wav.ts';
import { pcmu } from '../../src/codec/g711.ts';
import { Depacketizer } from '../../src/pipeline/receive/depacketizer.ts';
import { xorshift } from './sounds.ts';

export interface BadLine {
  name: string;
  /** Beside the caller, how far below their voice. */
  noise?: { kind: 'babble' | 'street' | 'hiss'; belowDb: number };
  gsm?: boolean;
  /** Share of packets of 20 ms. */
  lost?: number;
}

export const CLEAR_LINE: BadLine = { name: 'clear' };

export const BAD_LINES: readonly BadLine[] = [
  { name: 'babble, 20 dB', noise: { kind: 'babble', belowDb: 20 } },
  { name: 'babble, 10 dB', noise: { kind: 'babble', belowDb: 10 } },
  { name: 'street, 20 dB', noise: { kind: 'street', belowDb: 20 } },
  { name: 'street, 10 dB', noise: { kind: 'street', belowDb: 10 } },
  { name: 'hiss, 10 dB', noise: { kind: 'hiss', belowDb: 10 } },
  { name: 'packets lost, 2 %', lost: 0.02 },
  { name: 'packets lost, 5 %', lost: 0.05 },
  { name: 'GSM', gsm: true },
  {
    name: 'GSM, street 20 dB, 2 % lost',
    gsm: true,
    noise: { kind: 'street', belowDb: 20 },
    lost: 0.02,
  },
];

/** Level of the speech, as usual telephones send it. */
const SPEECH_DBFS = -22;
/** Before and after the speech, as a recogniser gets it. */
const BEFORE_SAMPLES = 3_600;
const AFTER_SAMPLES = 2_400;
const FRAME_MS = 20;
const PROGRAM_MS_MAX = 20_000;
/** Between two pieces of speech, in frames of 20 ms: the codec keeps some state. */
const GSM_PAUSE_SAMPLES = 10 * FRAME_SAMPLES;

/** Whether ffmpeg codes GSM here. */
export function hasGsm(): boolean {
  const { stdout } = spawnSync('ffmpeg', ['-hide_banner', '-encoders'], {
    encoding: 'utf8',
    timeout: PROGRAM_MS_MAX,
  });
  return stdout?.includes('libgsm') === true;
}

/** What arrives of the speech, with the line before and after it. Equal seeds give equal lines. */
export function throughLine(pcm: Int16Array, line: BadLine, seed: number): Int16Array {
  return throughLines([pcm], line, seed)[0] ?? new Int16Array();
}

/** The same for many, each with a seed of its own from `seed` on. */
export function throughLines(
  speech: readonly Int16Array[],
  line: BadLine,
  seed: number,
): Int16Array[] {
  const sent = speech.map((pcm, nth) => {
    const random = xorshift((seed + nth) * 7_919 + 1);
    return { random, sound: spoiled(pcm, line, random) };
  });
  const sounds = sent.map(({ sound }) => sound);
  const coded = line.gsm === true ? throughGsm(sounds) : sounds;
  return sent.map(({ random, sound }, nth) =>
    received(coded[nth] ?? sound, line.lost ?? 0, random),
  );
}

function spoiled(pcm: Int16Array, line: BadLine, random: () => number): Int16Array {
  const sum = new Float64Array(BEFORE_SAMPLES + pcm.length + AFTER_SAMPLES);
  add(sum, pcm, BEFORE_SAMPLES, SPEECH_DBFS);
  const { kind, belowDb } = line.noise ?? { kind: 'hiss', belowDb: 45 };
  add(sum, NOISES[kind](sum.length, random), 0, SPEECH_DBFS - belowDb);
  telephoneBand().process(sum);
  return Int16Array.from(sum, (each) => Math.max(-32_768, Math.min(32_767, each)));
}

function add(sum: Float64Array, pcm: Int16Array, at: number, dbfs: number): void {
  const gain = gainOfDb(dbfs - levelDb(pcm));
  for (let i = 0; i < pcm.length && at + i < sum.length; i++) {
    sum[at + i] = (sum[at + i] ?? 0) + gain * (pcm[i] ?? 0);
  }
}

type Noise = (samples: number, random: () => number) => Int16Array;

const NOISES: Record<NonNullable<BadLine['noise']>['kind'], Noise> = {
  hiss: (samples, random) => Int16Array.from({ length: samples }, () => 8_000 * random()),
  babble,
  street,
};

/** Recorded people; each begins elsewhere in what they say. */
const TALKERS = 6;
let voices: Int16Array[] | undefined;

function babble(samples: number, random: () => number): Int16Array {
  voices ??= readdirSync('fixtures/audio/human')
    .filter((file) => file.endsWith('.wav'))
    .map((file) => readWav(readFileSync(`fixtures/audio/human/${file}`)).samples);
  const sum = new Float64Array(samples);
  for (let talker = 0; talker < TALKERS; talker++) {
    const voice = voices[Math.floor(Math.abs(random()) * voices.length)] ?? new Int16Array(1);
    const from = Math.floor(Math.abs(random()) * voice.length);
    const said = Int16Array.from(
      { length: samples },
      (_, i) => voice[(from + i) % voice.length] ?? 0,
    );
    add(sum, said, 0, -30);
  }
  return Int16Array.from(sum);
}

/** Engines that come and go, and a horn. */
function street(samples: number, random: () => number): Int16Array {
  const [rumbleHz, carMs] = [0.35 + 0.2 * random(), 1_800 + 600 * random()];
  const hornFrom = Math.floor(Math.abs(random()) * samples);
  let [low, lower] = [0, 0];
  return Int16Array.from({ length: samples }, (_, i) => {
    low += 0.12 * (12_000 * random() - low);
    lower += 0.03 * (24_000 * random() - lower);
    const nears = 0.55 + 0.45 * Math.sin((2 * Math.PI * i) / (carMs * 8) + rumbleHz);
    const isHorn = i >= hornFrom && i < hornFrom + 0.35 * RATE_HZ;
    const tone = (hz: number) => Math.sin((2 * Math.PI * hz * i) / RATE_HZ);
    return nears * (low + lower) + (isHorn ? 900 * (tone(415) + tone(523)) : 0);
  });
}

/** By GSM 06.10, with ffmpeg: one after the other, as starting the program takes longer than its work. */
function throughGsm(sounds: readonly Int16Array[]): Int16Array[] {
  const raw = ['-f', 's16le', '-ar', '8000', '-ac', '1'];
  const begins: number[] = [];
  let length = 0;
  for (const sound of sounds) {
    begins.push(length);
    length += Math.ceil(sound.length / FRAME_SAMPLES) * FRAME_SAMPLES + GSM_PAUSE_SAMPLES;
  }
  const all = new Int16Array(length);
  for (const [nth, sound] of sounds.entries()) all.set(sound, begins[nth]);
  const coded = ffmpeg(
    [...raw, '-i', '-', '-c:a', 'libgsm', '-f', 'gsm', '-'],
    Buffer.from(all.buffer),
  );
  const bytes = ffmpeg(['-f', 'gsm', '-i', '-', ...raw, '-'], coded);
  const heard = Int16Array.from({ length: bytes.length >> 1 }, (_, i) => bytes.readInt16LE(2 * i));
  return sounds.map((sound, nth) => {
    const from = begins[nth] ?? 0;
    return heard.slice(from, from + sound.length);
  });
}

function ffmpeg(args: readonly string[], input: Buffer): Buffer {
  const options = { input, timeout: PROGRAM_MS_MAX, maxBuffer: 64_000_000 };
  const { status, stdout, stderr } = spawnSync('ffmpeg', ['-loglevel', 'error', ...args], options);
  if (status !== 0) throw new Error(`ffmpeg: ${stderr}`);
  return stdout;
}

/** In packets by G.711, of which some are lost and concealed by the gateway. */
function received(pcm: Int16Array, lost: number, random: () => number): Int16Array {
  const frames: Int16Array[] = [];
  const depacketizer = new Depacketizer({
    codec: pcmu,
    sink: (frame) => void frames.push(frame.slice()),
  });
  const payload = new Uint8Array(FRAME_SAMPLES);
  let isLost = false;
  for (let nth = 0; (nth + 1) * FRAME_SAMPLES <= pcm.length; nth++) {
    pcmu.encode(pcm.subarray(nth * FRAME_SAMPLES, (nth + 1) * FRAME_SAMPLES), payload);
    const nowMs = nth * FRAME_MS;
    const draw = Math.abs(random());
    // One loss in three takes the next packet too.
    isLost = isLost ? draw < 1 / 3 : draw < (lost * 2) / 3;
    if (!isLost) depacketizer.push(payload, nowMs, nowMs + FRAME_MS);
    depacketizer.tick(nowMs + FRAME_MS);
  }
  const sound = new Int16Array(frames.length * FRAME_SAMPLES);
  for (const [nth, frame] of frames.entries()) sound.set(frame, nth * FRAME_SAMPLES);
  return sound;
}
