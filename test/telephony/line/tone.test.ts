import { describe, expect, it } from 'vitest';
import { fillTone, measureTone } from '../../../src/telephony/line/tone.ts';

function tone(hz: number, rateHz: number): Int16Array {
  const pcm = new Int16Array(rateHz / 2);
  const frame = new Int16Array(rateHz / 50);
  for (let nth = 0; nth < 25; nth++) {
    fillTone(frame, { hz, rateHz, nth });
    pcm.set(frame, nth * frame.length);
  }
  return pcm;
}

describe('tones of the doctor', () => {
  it.each([8_000, 16_000])('are distinguished at %i Hz', (rateHz) => {
    for (const hz of [440, 1_000]) {
      for (const looked of [440, 1_000]) {
        const { levelDb, share } = measureTone(tone(hz, rateHz), { hz: looked, rateHz });
        expect(levelDb).toBeCloseTo(-15.3, 1);
        if (hz === looked) expect(share).toBeGreaterThan(0.99);
        else expect(share).toBeLessThan(0.01);
      }
    }
  });

  it('are not in silence nor in noise', () => {
    const silence = measureTone(new Int16Array(4_000), { hz: 440, rateHz: 8_000 });
    expect(silence).toEqual({ levelDb: Number.NEGATIVE_INFINITY, share: 0 });
    let seed = 1;
    const noise = Int16Array.from({ length: 4_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return (seed % 16_000) - 8_000;
    });
    expect(measureTone(noise, { hz: 440, rateHz: 8_000 }).share).toBeLessThan(0.02);
    expect(measureTone(new Int16Array(0), { hz: 440, rateHz: 8_000 }).share).toBe(0);
  });
});
