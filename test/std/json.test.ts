import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactJson, parseExactJson } from '../../src/std/json.ts';

describe('integers beyond 2^53 in JSON', () => {
  it.each([
    ['{"order":12345678901234567890}', { order: '12345678901234567890' }],
    ['[9007199254740993, -9007199254740993]', ['9007199254740993', '-9007199254740993']],
    ['9007199254740991', 9_007_199_254_740_991],
    ['{"a":{"b":[1234567890123456789]}}', { a: { b: ['1234567890123456789'] } }],
    [
      '["say \\"9007199254740993\\"", "9007199254740993"]',
      ['say "9007199254740993"', '9007199254740993'],
    ],
    [
      '[0.1234567890123456, 1e30, 1234567890123456e2]',
      [0.123_456_789_012_345_6, 1e30, 1.234_567_890_123_456e17],
    ],
  ])('%s keeps its digits', (text, value) => {
    expect(parseExactJson(text)).toEqual(value);
  });

  it.each(['{12345678901234567890:1}x', '01234567890123456789', '[12345678901234567890', 'no'])(
    '%s is still no JSON',
    (text) => {
      expect(parseExactJson(text)).toBeUndefined();
    },
  );

  it('are all that differs from a plain reading', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseExactJson(text)).toEqual(JSON.parse(exactJson(text)));
        if (!/\d{16}/.test(text)) expect(parseExactJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});
