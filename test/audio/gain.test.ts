import { describe, expect, it } from 'vitest';
import {
  applyRamp,
  energy,
  fadeIn,
  fadeOut,
  Gain,
  gainOfDb,
  LEVEL_DBFS_MIN,
  levelDbfs,
  mixInto,
} from '../../src/audio/gain.ts';
import { sine } from './sine.ts';

function steady(length: number, level: number): Int16Array {
  return new Int16Array(length).fill(level);
}

/** The largest jump between neighbours. */
function jump(pcm: Int16Array): number {
  return Math.max(...pcm.slice(1).map((sample, i) => Math.abs(sample - (pcm[i] ?? 0))));
}

describe('level', () => {
  it('of a full sine is -3 dBFS', () => {
    const pcm = sine({ hz: 1_000, rateHz: 8_000, count: 8_000, amplitude: 32_767 });
    expect(levelDbfs(pcm)).toBeCloseTo(-3.01, 2);
  });

  it('falls by 20 dB with a tenth of the amplitude', () => {
    expect(levelDbfs(steady(160, 20_000)) - levelDbfs(steady(160, 2_000))).toBeCloseTo(20, 6);
  });

  it('of silence, and of nothing, is the least', () => {
    expect(levelDbfs(steady(160, 0))).toBe(LEVEL_DBFS_MIN);
    expect(levelDbfs(new Int16Array(0))).toBe(LEVEL_DBFS_MIN);
    expect(energy(new Int16Array(0))).toBe(0);
  });

  it('is the mean square', () => {
    expect(energy(Int16Array.of(3, -4, 0, 5))).toBe(12.5);
  });
});

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

describe('Gain', () => {
  it('leaves the stream alone at 1', () => {
    const pcm = steady(160, 777);
    new Gain().apply(pcm);
    expect(pcm).toEqual(steady(160, 777));
  });

  it('glides down over 60 ms and stays there', () => {
    const gain = new Gain();
    gain.glideTo(gainOfDb(-20), 480);
    const heard: number[] = [];
    for (let frame = 0; frame < 5; frame++) {
      const pcm = steady(160, 10_000);
      gain.apply(pcm);
      heard.push(...pcm);
    }
    expect(heard[0]).toBe(10_000);
    expect(heard[240]).toBe(5_500);
    expect(new Set(heard.slice(480))).toEqual(new Set([1_000]));
    expect(jump(Int16Array.from(heard))).toBeLessThan(21);
    expect(gain.now).toBeCloseTo(0.1, 12);
  });

  it('turns round in the middle of a glide without a step', () => {
    const gain = new Gain();
    gain.glideTo(0, 320);
    const first = steady(160, 10_000);
    gain.apply(first);
    gain.glideTo(1, 160);
    const second = steady(320, 10_000);
    gain.apply(second);
    expect(jump(Int16Array.from([...first, ...second]))).toBeLessThan(40);
    expect(second[319]).toBe(10_000);
  });

  it('changes at once when asked to', () => {
    const gain = new Gain(0);
    gain.glideTo(0.5, 0);
    const pcm = steady(2, 100);
    gain.apply(pcm);
    expect([...pcm]).toEqual([50, 50]);
  });
});

describe('mixInto', () => {
  it('adds with a gain, and saturates', () => {
    const target = Int16Array.of(100, 32_000, -32_000, 5);
    mixInto(target, Int16Array.of(50, 2_000, -2_000), 0.5);
    expect([...target]).toEqual([125, 32_767, -32_768, 5]);
  });
});
