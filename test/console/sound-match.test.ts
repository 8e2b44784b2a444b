// The judge of sounds: what a listener would miss is reported, by the fixtures' speech.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { matchSound } from './sound-match.ts';

const RATE = 8_000;
const speech = (name: string) =>
  readWav(readFileSync(`fixtures/audio/callers/${name}.wav`)).samples;
const said = speech('book-an-appointment');

/** After `delayMs` of noise, at half the level and with noise of a line. */
function line(sound: Int16Array, delayMs = 700): Int16Array {
  const delay = (delayMs * RATE) / 1_000;
  const heard = new Int16Array(delay + sound.length + RATE);
  for (let i = 0; i < heard.length; i++) {
    const noise = ((i * 7_919) % 41) - 20;
    heard[i] = Math.round((sound[i - delay] ?? 0) / 2) + noise;
  }
  return heard;
}

/** The loudest moment, where a gap is in the middle of a word. */
function loudest(sound: Int16Array): number {
  let at = 0;
  for (let i = 0; i < sound.length; i++) {
    if (Math.abs(sound[i] as number) > Math.abs(sound[at] as number)) at = i;
  }
  return at;
}

function joined(...parts: Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

const at = loudest(said);
const piece = (ms: number): number => (ms * RATE) / 1_000;

describe('a sound', () => {
  it('matches itself, later, quieter and with noise', () => {
    const { share, gapMs, loudS, utterances } = matchSound(said, line(said), RATE);
    expect(utterances).toBeGreaterThan(0);
    expect(loudS).toBeGreaterThan(0.7);
    expect(share).toBe(1);
    expect(gapMs).toBeLessThan(5);
  });

  it('does not match silence, nor other words', () => {
    expect(matchSound(said, line(new Int16Array(said.length)), RATE).share).toBe(0);
    expect(matchSound(said, line(speech('another-day')), RATE).share).toBeLessThan(0.5);
  });

  it('does not match a sound that ends in the middle', () => {
    expect(matchSound(said, line(said.subarray(0, at)), RATE).share).toBeLessThan(0.8);
  });

  it.each([20, 60, 120])('has a gap of %i ms that was inserted', (ms) => {
    const heard = joined(said.subarray(0, at), new Int16Array(piece(ms)), said.subarray(at));
    expect(Math.abs(matchSound(said, line(heard), RATE).gapMs - ms)).toBeLessThanOrEqual(10);
  });

  it.each([60, 120])('has a gap of %i ms that was left out', (ms) => {
    const heard = joined(said.subarray(0, at), said.subarray(at + piece(ms)));
    expect(Math.abs(matchSound(said, line(heard), RATE).gapMs - ms)).toBeLessThanOrEqual(10);
  });

  it('has a gap of 60 ms that is silent', () => {
    const heard = said.slice();
    heard.fill(0, at - piece(30), at + piece(30));
    const { gapMs } = matchSound(said, line(heard), RATE);
    expect(gapMs).toBeGreaterThan(45);
    expect(gapMs).toBeLessThan(75);
  });
});
