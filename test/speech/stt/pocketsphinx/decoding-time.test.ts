// A thread decodes the utterances of many calls one after the other, and no decoding can be broken off.

import { describe, expect, it } from 'vitest';
import { createDecodingTime } from '../../../../src/speech/stt/pocketsphinx/decoding-time.ts';

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
