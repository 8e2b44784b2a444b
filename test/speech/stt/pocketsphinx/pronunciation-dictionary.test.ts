import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numberWords } from '../../../../src/speech/stt/pocketsphinx/jsgf.ts';
import { parseDictionary } from '../../../../src/speech/stt/pocketsphinx/pronunciation-dictionary.ts';

describe('pronouncing dictionary', () => {
  it('has words with all their pronunciations', () => {
    const dictionary = parseDictionary("a AH\na(2) EY\na.m. EY EH M\nthat's DH AE T S\n");
    expect(dictionary.pronunciations('a')).toEqual(['AH', 'EY']);
    expect(dictionary.pronunciations('a.m.')).toEqual(['EY EH M']);
    expect(dictionary.has("that's")).toBe(true);
    expect(dictionary.has('b')).toBe(false);
    expect(dictionary.pronunciations('b')).toEqual([]);
  });

  it('leaves out lines that are none', () => {
    const dictionary = parseDictionary('\r\n;;; comment\nword\nx 1 2\nyes Y EH S\r\n');
    expect(dictionary.has('yes')).toBe(true);
    for (const word of [';;;', 'word', 'x', '']) expect(dictionary.has(word)).toBe(false);
  });

  it('takes any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseDictionary(text).has('\n')).toBe(false);
      }),
    );
  });
});

describe('number words', () => {
  it.each([
    [0, 'zero'],
    [7, 'seven'],
    [10, 'ten'],
    [19, 'nineteen'],
    [20, 'twenty'],
    [42, 'forty two'],
    [100, 'one hundred'],
    [305, 'three hundred five'],
    [12_345, 'twelve thousand three hundred forty five'],
    [900_000, 'nine hundred thousand'],
  ])('says %i as %s', (value, words) => {
    expect(numberWords(value)).toBe(words);
  });
});
