import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AdaptivePredictor } from '../../src/codec/g722-portable.ts';

/** Error energy of the predictor over `samples`, which it gets without loss. */
function errorOf(predictor: AdaptivePredictor, samples: readonly number[]): number {
  let energy = 0;
  for (const sample of samples) {
    const difference = sample - predictor.prediction;
    energy += difference ** 2;
    predictor.advance(difference);
  }
  return energy;
}

const tone = Array.from({ length: 800 }, (_, i) => Math.round(4_000 * Math.sin(i / 5)));

describe('the adaptive predictor of G.722', () => {
  it('expects silence at first, and after silence', () => {
    const predictor = new AdaptivePredictor();
    expect(predictor.prediction).toBe(0);
    for (let i = 0; i < 100; i++) predictor.advance(0);
    expect(predictor.prediction).toBe(0);
  });

  it('adapts to a tone: its prediction error becomes small', () => {
    const predictor = new AdaptivePredictor();
    const atFirst = errorOf(predictor, tone.slice(0, 100));
    const later = errorOf(predictor, tone.slice(700));
    expect(later).toBeLessThan(atFirst / 10);
  });

  it('stays within 16 bits for any input', () => {
    const differences = fc.array(fc.integer({ min: -32_768, max: 32_767 }), { maxLength: 500 });
    fc.assert(
      fc.property(differences, (told) => {
        const predictor = new AdaptivePredictor();
        for (const difference of told) {
          predictor.advance(difference);
          expect(Math.abs(predictor.prediction)).toBeLessThanOrEqual(32_768);
        }
      }),
    );
  });
});
