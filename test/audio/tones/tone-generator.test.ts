import { describe, expect, it } from 'vitest';
import {
  DTMF_DIGITS_MAX,
  dtmfTones,
  isDtmfDigit,
  ringbackTone,
} from '../../../src/audio/tones/tone-generator.ts';
import { amplitudeAt } from '../sine.ts';
import { levelDbfs, taken } from '../sounds.ts';

const rowsHz = [697, 770, 852, 941];
const columnsHz = [1_209, 1_336, 1_477, 1_633];
/** ITU-T Q.23, figure 1. */
const keypad = ['123A', '456B', '789C', '*0#D'];

describe('DTMF tones', () => {
  const digits = keypad.flatMap((keys, row) =>
    [...keys].map((digit, column) => ({ digit, row, column })),
  );

  it.each(digits)(
    'of $digit are the tones of its row and column alone',
    ({ digit, row, column }) => {
      const tone = dtmfTones(digit).subarray(0, 800);
      const peaks = [...rowsHz, ...columnsHz].map((hz) => amplitudeAt(tone, hz, 8_000));
      const [low = 0, high = 0] = [peaks[row], peaks[4 + column]];
      expect(20 * Math.log10(low / 32_768)).toBeCloseTo(-10.2, 0);
      expect(20 * Math.log10(high / low)).toBeCloseTo(2, 0);
      const others = peaks.filter((_, i) => i !== row && i !== 4 + column);
      expect(Math.max(...others)).toBeLessThan(low / 10);
    },
  );

  it('are 100 ms each with 100 ms of silence behind', () => {
    const pcm = dtmfTones('12');
    expect(pcm).toHaveLength(3_200);
    for (const [from, to, level] of [
      [0, 800, -9],
      [800, 1_600, -100],
      [1_600, 2_400, -9],
      [2_400, 3_200, -100],
    ] as const) {
      expect(levelDbfs(pcm.subarray(from, to))).toBeCloseTo(level, -1);
    }
  });

  it('begin and end softly', () => {
    const pcm = dtmfTones('5');
    expect(Math.abs(pcm[0] ?? 1)).toBe(0);
    expect(Math.abs(pcm[799] ?? 99)).toBeLessThan(100);
  });

  it('wait for half a second at a w', () => {
    const [one, two] = [dtmfTones('1'), dtmfTones('2')];
    const pcm = dtmfTones('1w2');
    expect(pcm).toHaveLength(1_600 + 4_000 + 1_600);
    expect(pcm.subarray(0, 1_600)).toEqual(one);
    expect(pcm.subarray(1_600, 5_600).every((sample) => sample === 0)).toBe(true);
    expect(pcm.subarray(5_600)).toEqual(two);
  });

  it('are refused for anything else', () => {
    expect(() => dtmfTones('12x')).toThrow(RangeError);
    expect(() => dtmfTones('1'.repeat(DTMF_DIGITS_MAX + 1))).toThrow(RangeError);
    expect(dtmfTones('')).toHaveLength(0);
    expect(['', '12', 'a', 'é'].map(isDtmfDigit)).toEqual([false, false, false, false]);
  });
});

describe('the ring-back tone', () => {
  const cycle = taken(ringbackTone(), 300);
  const on = cycle.subarray(0, 16_000);

  it('is 440 and 480 Hz, each of -19 dBm0, and nothing else', () => {
    for (const hz of [440, 480]) {
      // 0 dBm0 is a sine of -3.17 dBFS.
      expect(20 * Math.log10(amplitudeAt(on, hz, 8_000) / 32_768)).toBeCloseTo(-19 - 3.17, 1);
    }
    for (const hz of [350, 400, 460, 520, 620, 880, 960]) {
      expect(amplitudeAt(on, hz, 8_000)).toBeLessThan(3);
    }
  });

  it('sounds for two seconds and is silent for four, again and again', () => {
    expect(on.some((sample, i) => i >= 15_900 && sample !== 0)).toBe(true);
    expect(cycle.subarray(16_000).every((sample) => sample === 0)).toBe(true);
    const sound = ringbackTone();
    taken(sound, 300);
    expect(taken(sound, 300)).toEqual(cycle);
    // Frames of any length, and each taker from the begin.
    expect(taken(ringbackTone(), 1, 48_000)).toEqual(cycle);
  });

  it('begins and ends softly', () => {
    const steps = on.subarray(1).map((sample, i) => Math.abs(sample - (on[i] ?? 0)));
    const [first, last] = [steps.subarray(0, 16), steps.subarray(-16)];
    expect(Math.max(...first, ...last)).toBeLessThan(Math.max(...steps) / 4);
    expect(Math.abs(on.at(-1) ?? 99)).toBeLessThan(20);
  });
});
