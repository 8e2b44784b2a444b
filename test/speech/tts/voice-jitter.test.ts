// The cushion of a voice. With 400 conversations on one core, one answer in thirty had a gap behind its first 100 ms: the
// service's second piece came more than that after the first.

import { expect, it } from 'vitest';
import { VoiceJitter } from '../../../src/speech/tts/voice-jitter.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const PIECE_SAMPLES = 800;

function jitterOf() {
  const clock = new FakeClock();
  const jitter = new VoiceJitter(clock);
  /** Pieces of 100 ms, each so long after the one before. */
  const speak = (...afterMs: number[]): void => {
    const utterance = jitter.begin();
    utterance.text();
    for (const ms of [0, ...afterMs]) {
      clock.advance(ms);
      utterance.audio(PIECE_SAMPLES);
    }
  };
  return { clock, jitter, speak };
}

it('is none for a service that is ahead of what is played', () => {
  const { jitter, speak } = jitterOf();
  expect(jitter.cushionMs).toBe(0);
  for (let nth = 0; nth < 10; nth++) speak(20, 20, 180, 100);
  expect(jitter.cushionMs).toBe(0);
});

it('is what the second latest utterance was late by, in whole frames', () => {
  const { jitter, speak } = jitterOf();
  speak(20, 20);
  speak(130);
  speak(130);
  expect(jitter.cushionMs).toBe(40);
  // Twice late by 30 ms: the begin must have been later by both.
  speak(130, 130, 50);
  speak(130, 130, 50);
  expect(jitter.cushionMs).toBe(60);
});

it('is none for one late utterance alone', () => {
  const { jitter, speak } = jitterOf();
  for (let nth = 0; nth < 20; nth++) speak(20);
  speak(190);
  expect(jitter.cushionMs).toBe(0);
  speak(150);
  expect(jitter.cushionMs).toBe(60);
});

it('covers all but one in a hundred utterances', () => {
  const { jitter, speak } = jitterOf();
  for (let nth = 0; nth < 198; nth++) speak(20);
  speak(250);
  speak(250);
  expect(jitter.cushionMs).toBe(0);
  speak(190);
  expect(jitter.cushionMs).toBe(100);
});

it('does not count audio that waited for its text, nor a pause of the service', () => {
  const { clock, jitter, speak } = jitterOf();
  speak(190);
  const utterance = jitter.begin();
  utterance.audio(PIECE_SAMPLES);
  clock.advance(190);
  utterance.text();
  clock.advance(100);
  utterance.audio(PIECE_SAMPLES);
  expect(jitter.cushionMs).toBe(0);
  clock.advance(320);
  utterance.audio(PIECE_SAMPLES);
  expect(jitter.cushionMs).toBe(0);
  clock.advance(160);
  utterance.audio(PIECE_SAMPLES);
  expect(jitter.cushionMs).toBe(60);
});

it('is forgotten after a minute at most, and not before half of one', () => {
  const { clock, jitter, speak } = jitterOf();
  speak(150);
  speak(150);
  clock.advance(29_000);
  speak(20);
  expect(jitter.cushionMs).toBe(60);
  clock.advance(2_000);
  expect(jitter.cushionMs).toBe(60);
  clock.advance(30_000);
  expect(jitter.cushionMs).toBe(0);
  speak(150);
  speak(150);
  clock.advance(90_000);
  expect(jitter.cushionMs).toBe(0);
});
