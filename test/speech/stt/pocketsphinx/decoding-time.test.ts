// A thread decodes the utterances of many calls one after the other, and no decoding can be broken off.

import { describe, expect, it } from 'vitest';
import { trustIn } from '../../../../src/model/word-trust.ts';
import {
  createDecodingTime,
  decodeInTime,
} from '../../../../src/speech/stt/pocketsphinx/decoding-time.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const SECOND = 8_000;

/** After many decodings of five seconds at so many milliseconds for each. */
function at(msPerSecond: number) {
  const time = createDecodingTime();
  for (let nth = 0; nth < 30; nth++) time.took(5 * msPerSecond, 5 * SECOND);
  return time;
}

describe('the audio of one decoding', () => {
  it('is at most 20 s, and less on a machine that would need more than 1.5 s for it', () => {
    expect(at(54).samplesMax).toBe(20 * SECOND);
    expect(at(150).samplesMax / SECOND).toBeCloseTo(10, 1);
    expect(at(300).samplesMax / SECOND).toBeCloseTo(5, 1);
  });

  it('ends within its time at any speed, down to three seconds of audio', () => {
    for (const speed of [10, 54, 100, 200, 400, 500]) {
      const ms = (at(speed).samplesMax / SECOND) * speed;
      expect(ms).toBeLessThanOrEqual(1_501);
    }
    expect(at(5_000).samplesMax).toBe(3 * SECOND);
  });

  it('is less before anything was decoded', () => {
    const { samplesMax } = createDecodingTime();
    expect(samplesMax / SECOND).toBeGreaterThan(9);
    expect(samplesMax / SECOND).toBeLessThan(10);
  });

  it('is what it was a few decodings after one that was held up', () => {
    const time = at(54);
    time.took(5_000, 2 * SECOND);
    expect(time.samplesMax).toBeLessThan(20 * SECOND);
    for (let nth = 0; nth < 12; nth++) time.took(108, 2 * SECOND);
    expect(time.samplesMax).toBe(20 * SECOND);
  });

  it('is not measured by clicks', () => {
    const time = at(54);
    for (let nth = 0; nth < 10; nth++) time.took(500, 800);
    expect(time.samplesMax).toBe(20 * SECOND);
  });
});

describe('an utterance that is too long for its time', () => {
  /** Six seconds, at a speed at which five can be decoded. */
  function decoded(form: 'loop' | 'phrases') {
    const [clock, time] = [new FakeClock(), at(300)];
    const sound = new Int16Array(6 * SECOND);
    const given: number[] = [];
    const words = decodeInTime({ clock, time }, { sound, form }, (samples) => {
      given.push(Math.round(samples.length / SECOND));
      clock.advance(samples.length / 80);
      return { text: 'five five', confidence: 0.9 };
    });
    return { words, given, time };
  }

  it('gives the words of its last seconds', () => {
    expect(decoded('phrases')).toMatchObject({ words: { text: 'five five' }, given: [5] });
  });

  it('has these words asked about, however well they fit', () => {
    const { words } = decoded('phrases');
    expect(trustIn(words.confidence)).toBe('confirm');
  });

  it('gives none of a number: without its first digits it is another one', () => {
    expect(decoded('loop').words.text).toBe('');
  });

  it('is measured all the same: the next one may be decoded as a whole', () => {
    expect(decoded('loop').time.samplesMax).toBeGreaterThan(6 * SECOND);
  });
});
