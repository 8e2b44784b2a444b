import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wordTimings } from '../../../../src/speech/tts/flite/flite-word-timings.ts';

/** flite's print for "Hello, thank you.", shortened. */
const PRINTED =
  'pau:0.100 hh:0.200 ow:0.500 pau:0.700 th:0.800 ng:1.000 y:1.100 uw:1.300 pau:1.500 ';

describe('word timings', () => {
  it('maps a pause of the speech to the comma of the text', () => {
    expect(wordTimings('Hello, thank you.', PRINTED)).toEqual([
      { word: 'Hello,', startMs: 100, endMs: 500 },
      { word: 'thank', startMs: 700, endMs: 1_060 },
      { word: 'you.', startMs: 1_060, endMs: 1_300 },
    ]);
  });

  it('shares the whole time where pauses and punctuation do not match', () => {
    const words = wordTimings('one two', PRINTED);
    expect(words).toEqual([
      { word: 'one', startMs: 100, endMs: 700 },
      { word: 'two', startMs: 700, endMs: 1_300 },
    ]);
  });

  it('gives ordered timings for any text and print', () => {
    fc.assert(
      fc.property(fc.string(), fc.oneof(fc.constant(PRINTED), fc.string()), (text, printed) => {
        let at = 0;
        for (const { startMs, endMs } of wordTimings(text, printed)) {
          expect(startMs).toBeGreaterThanOrEqual(at);
          expect(endMs).toBeGreaterThanOrEqual(startMs);
          at = endMs;
        }
      }),
    );
  });
});
