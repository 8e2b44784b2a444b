import { describe, expect, it } from 'vitest';
import {
  applyRamp,
  crossFade,
  fadeIn,
  fadeOut,
  LEVEL_MIN_DB,
  levelDb,
  mixLoop,
} from '../../src/audio/gain.ts';
import { noise } from './sine.ts';
import { levelDbfs } from './sounds.ts';

function steady(length: number, level: number): Int16Array {
  return new Int16Array(length).fill(level);
}

/** The largest jump between neighbours. */
function jump(pcm: Int16Array): number {
  return Math.max(...pcm.slice(1).map((sample, i) => Math.abs(sample - (pcm[i] ?? 0))));
}

describe('fades', () => {
  it('rise from silence and fall to it without a step', () => {
    const up = steady(480, 10_000);
    fadeIn(up);
    const down = steady(480, 10_000);
    fadeOut(down);
    expect([up[0], up[479], down[0], down[479]]).toEqual([0, 10_000, 10_000, 0]);
    expect(jump(up)).toBeLessThan(40);
    expect([...down]).toEqual([...up].reverse());
  });

  it('ramp over several frames as over one', () => {
    const whole = steady(480, 12_345);
    applyRamp(whole, 1, 0.1);
    const frames = steady(480, 12_345);
    for (const [i, from, to] of [
      [0, 1, 0.7],
      [1, 0.7, 0.4],
      [2, 0.4, 0.1],
    ] as const) {
      applyRamp(frames.subarray(i * 160, i * 160 + 160), from, to);
    }
    expect(frames).toEqual(whole);
  });

  it('saturate when they amplify', () => {
    const pcm = Int16Array.of(20_000, -20_000);
    applyRamp(pcm, 2, 2);
    expect([...pcm]).toEqual([32_767, -32_768]);
  });
});

describe('a passage at equal power', () => {
  it('keeps the loudness of noise, and begins and ends without a step', () => {
    const [random, other] = [noise(1), noise(2)];
    const end = Int16Array.from({ length: 8_000 }, () => 10_000 * random());
    const begin = Int16Array.from({ length: 8_000 }, () => 10_000 * other());
    const passage = begin.slice();
    crossFade(passage, end);
    for (let at = 0; at < 8_000; at += 1_000) {
      const level = levelDbfs(passage.subarray(at, at + 1_000));
      expect(Math.abs(level - levelDbfs(end)), `${at}`).toBeLessThan(0.7);
    }
    expect(Math.abs((passage[0] ?? 0) - (end[0] ?? 0))).toBeLessThan(10);
    expect(Math.abs((passage[7_999] ?? 0) - (begin[7_999] ?? 0))).toBeLessThan(10);
  });

  it('saturates', () => {
    const loud = steady(8, 32_767);
    crossFade(loud, steady(8, 32_767));
    expect([...loud]).toEqual(Array(8).fill(32_767));
  });
});

describe('mixLoop', () => {
  it('adds with a gain, and saturates', () => {
    const target = Int16Array.of(100, 32_000, -32_000);
    mixLoop(target, Int16Array.of(50, 2_000, -2_000), 0.5);
    expect([...target]).toEqual([125, 32_767, -32_768]);
  });

  it('begins anywhere, and again after the end', () => {
    const target = Int16Array.of(0, 0, 0, 0, 1_000);
    mixLoop(target, Int16Array.of(1, 2, 3), 1, 2);
    expect([...target]).toEqual([3, 1, 2, 3, 1_001]);
  });
});

describe('the level of a frame', () => {
  it('is 0 dB where every sample is the loudest there is, of any number', () => {
    for (const count of [1, 2, 3, 160, 161]) {
      expect(levelDb(new Int16Array(count).fill(-32_768))).toBe(0);
    }
  });

  it('is the mean square of all samples, an odd last one too', () => {
    const expected = 10 * Math.log10((3_000 ** 2 + 4_000 ** 2 + 5_000 ** 2) / 3 / 32_768 ** 2);
    expect(levelDb(Int16Array.of(3_000, -4_000, 5_000))).toBeCloseTo(expected, 10);
  });

  it('is never below that of nothing', () => {
    expect(levelDb(new Int16Array(160))).toBe(LEVEL_MIN_DB);
    expect(levelDb(new Int16Array(0))).toBe(LEVEL_MIN_DB);
    expect(levelDb(new Int16Array(160).fill(1))).toBe(LEVEL_MIN_DB);
  });
});
