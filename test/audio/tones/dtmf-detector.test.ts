// Keys as ITU-T Q.24 wants them detected. What must not be taken for one: dtmf-talk-off.test.ts too.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alaw, ulaw } from '../../../src/audio/companding.ts';
import { DtmfDetector } from '../../../src/audio/tones/dtmf-detector.ts';
import {
  DTMF_DIGITS,
  DTMF_HIGH_HZ,
  DTMF_LOW_HZ,
} from '../../../src/audio/tones/dtmf-frequencies.ts';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { rounds } from '../../rounds.ts';
import { noise } from '../sine.ts';

interface Line {
  /** Peaks of the two tones. */
  lowDbfs: number;
  highDbfs: number;
  /** Share by which both are off. */
  off: number;
  toneMs: number;
  pauseMs: number;
  /** White noise under the tones; infinite for none. */
  snrDb: number;
}

/** 0 dBm0 is a sine of -3.17 dBFS. */
const PLAIN: Line = {
  lowDbfs: -13.17,
  highDbfs: -13.17,
  off: 0,
  toneMs: 40,
  pauseMs: 40,
  snrDb: Number.POSITIVE_INFINITY,
};
/** Presses of each key, at a different position in the detector's blocks each time. */
const PRESSES = 25;

function pressed(key: string, line: Line): Int16Array {
  const place = DTMF_DIGITS.indexOf(key);
  const steps = [DTMF_LOW_HZ[place >> 2] ?? 0, DTMF_HIGH_HZ[place & 3] ?? 0].map(
    (hz) => (2 * Math.PI * hz * (1 + line.off)) / 8_000,
  );
  const [low = 0, high = 0] = [line.lowDbfs, line.highDbfs].map((db) => 32_768 * 10 ** (db / 20));
  const [lowStep = 0, highStep = 0] = steps;
  const random = noise(place);
  // Evenly distributed noise has a third of its peak's power, a sine a half.
  const hiss = Math.sqrt(1.5 * (low ** 2 + high ** 2)) * 10 ** (-line.snrDb / 20);
  const period = 8 * (line.toneMs + line.pauseMs);
  return Int16Array.from({ length: period * PRESSES + 37 }, (_, i) => {
    const at = (i - 37) % period;
    const sounds = i >= 37 && at < 8 * line.toneMs;
    const tone = sounds ? low * Math.sin(lowStep * at) + high * Math.sin(highStep * at + 1) : 0;
    return Math.max(-32_768, Math.min(32_767, tone + hiss * random()));
  });
}

function heardIn(pcm: Int16Array, chunk = 160): string {
  let keys = '';
  const detector = new DtmfDetector((key) => {
    keys += key;
  });
  for (let at = 0; at < pcm.length; at += chunk) detector.push(pcm.subarray(at, at + chunk));
  return keys;
}

const all = [...DTMF_DIGITS];
const through = (law: typeof ulaw, pcm: Int16Array): Int16Array =>
  pcm.map((sample) => law.samples[law.codes[sample & 0xffff] ?? 0] ?? 0);

describe('all sixteen keys are detected, each once,', () => {
  it.each<[string, Partial<Line>]>([
    ['of 40 ms with 40 ms between them', {}],
    ['of 3 dBm0 in all', { lowDbfs: -3.17, highDbfs: -3.17 - 3 }],
    ['of -25 dBm0', { lowDbfs: -28.17, highDbfs: -28.17 }],
    ['whose low tone is 6 dB stronger', { highDbfs: -19.17 }],
    ['whose high tone is 3 dB stronger', { lowDbfs: -16.17 }],
    ['1.5 % too high', { off: 0.015 }],
    ['1.5 % too low', { off: -0.015 }],
    ['1.5 % too high, with a twist of 5 dB', { off: 0.015, highDbfs: -18.17 }],
    ['1.5 % too low, with the high tone 2 dB stronger', { off: -0.015, lowDbfs: -15.17 }],
    ['15 dB above noise', { snrDb: 15 }],
    ['15 dB above noise, 1.5 % too high', { snrDb: 15, off: 0.015 }],
    ['15 dB above noise, with a twist of 3 dB', { snrDb: 15, highDbfs: -16.17 }],
    ['held for half a second', { toneMs: 500, pauseMs: 100 }],
  ])('%s', (_, change) => {
    for (const key of all) {
      const pcm = pressed(key, { ...PLAIN, ...change });
      expect(heardIn(pcm)).toBe(key.repeat(PRESSES));
      expect(heardIn(through(ulaw, pcm))).toBe(key.repeat(PRESSES));
      expect(heardIn(through(alaw, pcm))).toBe(key.repeat(PRESSES));
    }
  });

  it('as they are made here', () => {
    expect(heardIn(dtmfTones('0123456789*#ABCD'))).toBe('0123456789*#ABCD');
    expect(heardIn(dtmfTones('1122#'))).toBe('1122#');
  });

  it('however the audio is cut', () => {
    const pcm = dtmfTones('159D');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), (chunk) => {
        expect(heardIn(pcm, chunk)).toBe('159D');
      }),
      { numRuns: rounds(30, 60) },
    );
  });

  it('once if it is interrupted for 10 ms', () => {
    const pcm = pressed('5', { ...PLAIN, toneMs: 60, pauseMs: 10 });
    expect(heardIn(pcm)).toBe('5');
  });

  it('again after the audio broke off', () => {
    const keys: string[] = [];
    const detector = new DtmfDetector((key) => keys.push(key));
    const pcm = pressed('7', { ...PLAIN, toneMs: 500 }).subarray(37, 37 + 1_600);
    detector.push(pcm);
    detector.push(pcm);
    expect(keys).toEqual(['7']);
    detector.reset();
    detector.push(pcm);
    expect(keys).toEqual(['7', '7']);
  });
});

describe('no key is detected', () => {
  it.each<[string, Partial<Line>]>([
    ['in tones that are 3.5 % too high', { off: 0.035, toneMs: 500 }],
    ['in tones that are 3.5 % too low', { off: -0.035, toneMs: 500 }],
    ['in tones that are 3.5 % too high, with a twist of 8 dB', { off: 0.035, highDbfs: -21.17 }],
    ['whose low tone is 10 dB stronger', { highDbfs: -23.17, toneMs: 500 }],
    ['whose high tone is 6 dB stronger', { lowDbfs: -19.17, toneMs: 500 }],
    ['in tones of 20 ms', { toneMs: 20 }],
    ['below -45 dBm0', { lowDbfs: -48.17, highDbfs: -48.17 }],
    ['in one tone alone', { highDbfs: -120, toneMs: 500 }],
    ['3 dB above noise', { snrDb: 3 }],
  ])('%s', (_, change) => {
    for (const key of all) expect(heardIn(pressed(key, { ...PLAIN, ...change }))).toBe('');
  });
});
