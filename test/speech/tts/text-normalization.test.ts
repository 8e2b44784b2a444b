import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalizeText } from '../../../src/speech/tts/text-normalization.ts';

describe('spoken form', () => {
  it.each([
    ['Call +14155550123 now', 'Call plus 1, 4 1 5, 5 5 5, 0 1 2 3 now'],
    ['Call (415) 555-0123.', 'Call 4 1 5, 5 5 5, 0 1 2 3.'],
    ['Call 415.555.0123 or 4155550123', 'Call 4 1 5, 5 5 5, 0 1 2 3 or 4 1 5, 5 5 5, 0 1 2 3'],
    ['Order 123456', 'Order 1 2 3 4 5 6'],
    ['12/05/2026 and 2026-12-22', 'December 5th, 2026 and December 22nd, 2026'],
    ['It is 99/99/2026', 'It is 99/99/2026'],
    ['€20, £1 and €5.50', '20 euros, 1 pound and 5 euros 50'],
    ['Mail info@example.com', 'Mail info at example dot com'],
    ['See https://www.example.com/a', 'See www dot example dot com slash a'],
    ['I’m “fine” — naïve…', "I'm fine, naive."],
    ['**Bold** and `code`', 'Bold and code'],
    ['A & B, #5', 'A and B, number 5'],
    ['Press *, *1 or #.', 'Press star , star 1 or pound.'],
    ['Dial *21*555# or *#06#.', 'Dial star 2 1 star 5 5 5 pound or star pound 0 6 pound.'],
    ['2 < 3 and 5 > 4', '2 less than 3 and 5 greater than 4'],
    ['2 * 3 is 6', '2 times 3 is 6'],
    ['a 5* hotel', 'a 5 star hotel'],
    ['I <3 it', 'I love it'],
    ['C# and F#', 'C sharp and F sharp'],
    ['It is -5 degrees', 'It is minus 5 degrees'],
  ])('%s is said as %s', (text, said) => {
    expect(normalizeText(text)).toBe(said);
  });

  it.each(['$1,234.50', '3:30 pm', '45%', '1st', 'room 101', 'in 2026', '12,345,678', '$1500000'])(
    'leaves %s to the synthesiser',
    (text) => {
      expect(normalizeText(text)).toBe(text);
    },
  );

  it('gives printable ASCII, or nothing, for any text', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(text, (any) => {
        expect(normalizeText(any)).toMatch(/^[\x20-\x7e]*$/);
      }),
    );
    expect(normalizeText('…?! 😀')).toBe('');
  });

  it('takes no longer than its length for repeated patterns', () => {
    const nasty = ['1 '.repeat(500), 'a@'.repeat(500), '1-'.repeat(500), 'a.'.repeat(500)];
    for (const text of nasty) expect(normalizeText(text).length).toBeGreaterThan(0);
  });
});
