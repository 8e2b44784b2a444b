// The speech of a load measurement, real voices prepared once for all calls: what callers say as the
// frames of messages, what the agent says as WAV files that carry the watermark.

import { readFileSync } from 'node:fs';
import { readWav, wavHeader } from '../../../src/audio/wav.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { WORD_FRAMES } from '../services/frame-marks.ts';
import type { Wire } from '../wires/wire.ts';
import { FRAME_BYTES, writeMark } from './watermark.ts';

/** 13 s of four people, with their pauses. */
const TALK = 'fixtures/audio/vad/speech.wav';
const ANSWER = 'fixtures/audio/callers/yes-please.wav';
const SENTENCE = ['book-an-appointment', 'on-wednesday', 'in-the-morning'].map(
  (name) => `fixtures/audio/callers/${name}.wav`,
);
const RATE_HZ = 8_000;
const SILENCE = 0xff;
/** A frame below this share of the loudest is none of the words. */
const VOICE_SHARE = 0.1;

/** 20 ms of mu-law as the provider's messages carry them. */
type PayloadOf = Wire['payloadOf'];

export interface Phrase {
  /** 20 ms each, as messages carry them; the first and the last are voice. */
  frames: Uint8Array[];
}

/** What callers say without an end. */
export function callerTalk(payloadOf: PayloadOf): Phrase {
  return { frames: payloadsOf(mulawOf(TALK), payloadOf) };
}

/** Two words that interrupt and answer, without silence around them. */
export function callerAnswer(payloadOf: PayloadOf): Phrase {
  return { frames: payloadsOf(voiceOf(mulawOf(ANSWER)), payloadOf) };
}

/** Voice without a pause, µ-law in frames of 20 ms: a whole number of marked words. */
export interface VoicedPhrase {
  frames: Uint8Array[];
}

export function callerPhrase(): VoicedPhrase {
  const payloads = SENTENCE.map((file) => voiceOf(mulawOf(file)));
  const whole = Buffer.concat(payloads);
  const frames: Uint8Array[] = [];
  for (let at = 0; at + FRAME_BYTES <= whole.length; at += FRAME_BYTES) {
    frames.push(whole.subarray(at, at + FRAME_BYTES));
  }
  return { frames: frames.slice(0, frames.length - (frames.length % WORD_FRAMES)) };
}

export function silentFrame(payloadOf: PayloadOf): Uint8Array {
  return payloadOf(new Uint8Array(FRAME_BYTES).fill(SILENCE));
}

/** Mu-law of `frames` frames of speech, each with its mark. Differing clips begin at differing words. */
export function markedClip(clip: number, frames: number): Uint8Array {
  const source = mulawOf(TALK);
  const payload = new Uint8Array(frames * FRAME_BYTES);
  const from = clip * RATE_HZ;
  for (let i = 0; i < payload.length; i++)
    payload[i] = source[(from + i) % source.length] as number;
  for (let frame = 0; frame < frames; frame++) {
    writeMark(payload.subarray(frame * FRAME_BYTES, (frame + 1) * FRAME_BYTES), clip, frame);
  }
  return payload;
}

/** As a WAV file of 16-bit PCM: encoded again it gives the same mu-law. */
export function wavOf(payload: Uint8Array): Buffer {
  const samples = new Int16Array(payload.length);
  pcmu.decode(payload, samples);
  const data = Buffer.from(samples.buffer);
  return Buffer.concat([wavHeader({ rateHz: RATE_HZ, channels: 1, dataBytes: data.length }), data]);
}

function mulawOf(file: string): Uint8Array {
  const { samples } = readWav(readFileSync(file));
  const payload = new Uint8Array(samples.length);
  pcmu.encode(samples, payload);
  return payload;
}

/** Without the silence around it. */
function voiceOf(payload: Uint8Array): Uint8Array {
  const levels = frameLevels(payload);
  const floor = Math.max(...levels) * VOICE_SHARE;
  const first = levels.findIndex((level) => level >= floor);
  const last = levels.findLastIndex((level) => level >= floor);
  return payload.subarray(first * FRAME_BYTES, (last + 1) * FRAME_BYTES);
}

function frameLevels(payload: Uint8Array): number[] {
  const samples = new Int16Array(payload.length);
  pcmu.decode(payload, samples);
  const levels: number[] = [];
  for (let at = 0; at + FRAME_BYTES <= samples.length; at += FRAME_BYTES) {
    let sum = 0;
    for (const sample of samples.subarray(at, at + FRAME_BYTES)) sum += sample * sample;
    levels.push(Math.sqrt(sum / FRAME_BYTES));
  }
  return levels;
}

function payloadsOf(mulaw: Uint8Array, payloadOf: PayloadOf): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at + FRAME_BYTES <= mulaw.length; at += FRAME_BYTES) {
    frames.push(payloadOf(mulaw.subarray(at, at + FRAME_BYTES)));
  }
  return frames;
}
