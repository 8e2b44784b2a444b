import { describe, expect, it } from 'vitest';
import { amplitudeAt } from './sine.ts';
import { comfortNoise, LEVEL_DBFS_MIN, levelDbfs, sine, taken } from './sounds.ts';

const steady = (length: number, level: number) => new Int16Array(length).fill(level);

describe('level', () => {
  it('of a full sine is -3 dBFS', () => {
    const pcm = taken(sine({ hz: 1_000, levelDbfs: 0 }), 50);
    expect(levelDbfs(pcm)).toBeCloseTo(-3.01, 2);
  });

  it('falls by 20 dB with a tenth of the amplitude', () => {
    expect(levelDbfs(steady(160, 20_000)) - levelDbfs(steady(160, 2_000))).toBeCloseTo(20, 6);
  });

  it('of silence, and of nothing, is the least', () => {
    expect(levelDbfs(steady(160, 0))).toBe(LEVEL_DBFS_MIN);
    expect(levelDbfs(new Int16Array(0))).toBe(LEVEL_DBFS_MIN);
  });
});

describe('sine', () => {
  it('goes on over frames', () => {
    const pcm = taken(sine({ hz: 440, levelDbfs: -20 }), 50);
    expect(amplitudeAt(pcm, 440, 8_000)).toBeCloseTo(3_276.7, 0);
    expect(taken(sine({ hz: 440, levelDbfs: -20 }), 10, 800)).toEqual(pcm);
  });

  it('keeps its pitch at another rate', () => {
    const pcm = taken(sine({ hz: 1_000, levelDbfs: 0, rateHz: 16_000 }), 50, 320);
    expect(amplitudeAt(pcm, 1_000, 16_000)).toBeGreaterThan(32_700);
  });
});

describe('comfort noise', () => {
  it.each([-66, -50])('has the level %d dBFS', (wanted) => {
    expect(levelDbfs(taken(comfortNoise({ seed: 5, levelDbfs: wanted }), 500))).toBeCloseTo(
      wanted,
      0,
    );
  });

  it('is -66 dBFS by default', () => {
    expect(levelDbfs(taken(comfortNoise({ seed: 9 }), 500))).toBeCloseTo(-66, 0);
  });

  it('does not repeat, and is equal for equal seeds', () => {
    const one = taken(comfortNoise({ seed: 1 }), 100);
    expect(taken(comfortNoise({ seed: 1 }), 100)).toEqual(one);
    expect(taken(comfortNoise({ seed: 0 }), 100)).toEqual(one); // 0 has no sequence of its own
    expect(taken(comfortNoise({ seed: 2 }), 100)).not.toEqual(one);
    expect(one.slice(0, 8_000)).not.toEqual(one.slice(8_000));
  });
});
