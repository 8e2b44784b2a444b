import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isBackchannel,
  isBackchannelPrefix,
  isGoodbye,
  isStopWord,
  phrasesOf,
  plainWords,
} from '../../src/model/control-phrases.ts';

describe('phrases', () => {
  it.each(['Mhm.', 'uh-huh', 'Okay, yeah.', 'I see', 'Oh, right, okay'])(
    '%s is an acknowledgement',
    (text) => {
      expect(isBackchannel(text)).toBe(true);
    },
  );

  it.each(['', 'no', 'okay but on tuesday', 'what', 'yes please', 'mhm mhm mhm mhm mhm'])(
    '"%s" is none',
    (text) => {
      expect(isBackchannel(text)).toBe(false);
    },
  );

  it.each(['Wait!', 'No, actually Tuesday', 'hold on a bit', 'Stop.', 'Excuse me?'])(
    '%s always interrupts',
    (text) => {
      expect(isStopWord(text)).toBe(true);
    },
  );

  it.each(['', 'nothing', 'waiting', 'okay', 'i know'])('"%s" does not', (text) => {
    expect(isStopWord(text)).toBe(false);
  });

  it('hears a goodbye within a sentence', () => {
    expect(isGoodbye('Thank you, good-bye!')).toBe(true);
    expect(isGoodbye('I will buy it')).toBe(false);
  });

  it('makes plain words of any text', () => {
    expect(plainWords('  Yes — that’s RIGHT!  ')).toBe("yes that's right");
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = plainWords(text);
        expect(plainWords(plain)).toBe(plain);
        expect(typeof isBackchannel(text)).toBe('boolean');
        expect(typeof isStopWord(text)).toBe('boolean');
      }),
    );
  });

  it('falls back to English for other languages', () => {
    expect(phrasesOf('yes', 'xx-YY')).toBe(phrasesOf('yes'));
  });
});

describe('words that are still coming', () => {
  it.each(['i', 'of', 'got', 'okay i', 'oh I'])('may make an acknowledgement of %j', (text) => {
    expect(isBackchannelPrefix(text)).toBe(true);
  });

  it.each(['', 'i want', 'okay i want', 'see', 'offer'])('make none of %j', (text) => {
    expect(isBackchannelPrefix(text)).toBe(false);
  });
});
