import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide, rank } from '../../../src/workflow/scripted/phrase-match.ts';

const phrases = [
  'book an appointment',
  'cancel my appointment',
  'opening hours',
  'monday',
  'not monday',
];
const candidates = phrases.map((phrase) => ({ phrase, key: phrase, target: phrase }));

function decision(text: string, confidence: number | null = null): [string, string | undefined] {
  const ranked = rank(text, candidates);
  return [decide(ranked, confidence), ranked[0]?.target];
}

describe('the fit of words to phrases', () => {
  it.each([
    ['Book an appointment', 'accept', 'book an appointment'],
    ['I would like to book an appointment, please.', 'accept', 'book an appointment'],
    ['opening hours?', 'accept', 'opening hours'],
    ['not monday', 'accept', 'not monday'],
    ['on Monday please', 'accept', 'monday'],
  ])('%s is %sed', (text, what, target) => {
    expect(decision(text)).toEqual([what, target]);
  });

  it.each([
    ["please don't book an appointment", 'confirm'],
    ['cancel appointment', 'accept'],
    ['book appointment tomorrow', 'confirm'],
    ['appointment', 'reject'],
    ['my cat is ill', 'reject'],
    ['', 'reject'],
  ])('"%s" leads to %s', (text, what) => {
    expect(decision(text)[0]).toBe(what);
  });

  it('is refused where two choices fit as well', () => {
    expect(decision('opening hours monday')[0]).toBe('reject');
  });

  it.each([
    [null, 'accept'],
    [0.9, 'accept'],
    [0.4, 'confirm'],
    [0.1, 'reject'],
  ])('with a confidence of %s leads to %s', (confidence, what) => {
    expect(decision('monday', confidence)[0]).toBe(what);
  });

  it('is 1 for a phrase alone, between 0 and 1 for any text', () => {
    expect(rank('monday', candidates)[0]?.fit).toBe(1);
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...phrases)).map((all) => all.join(' ')),
    );
    fc.assert(
      fc.property(text, (said) => {
        for (const { fit } of rank(said, candidates)) {
          expect(fit).toBeGreaterThan(0);
          expect(fit).toBeLessThanOrEqual(1);
        }
      }),
    );
  });
});
