// What digits must be that a caller enters. Card numbers: the test numbers of payment providers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DigitRules, isLuhn, judgeDigits } from '../../../src/workflow/tools/digit-check.ts';

const rules: DigitRules = { min: 4, max: 19, check: 'none', patterns: [] };
/** 15 September 2026. */
const NOW = Date.UTC(2026, 8, 15);

const judged = (keys: string, more: Partial<DigitRules> = {}) =>
  judgeDigits({ ...rules, ...more }, keys, NOW);

describe('digits', () => {
  it.each([
    ['', 'none'],
    ['#', 'none'],
    ['123', 'too_few'],
    ['12345678901234567890', 'too_many'],
    ['12*4', 'invalid'],
    ['1234', 'ok'],
  ])('%j are %s', (keys, verdict) => {
    expect(judged(keys)).toBe(verdict);
  });

  it('of a card have a check digit', () => {
    for (const card of [
      '4242424242424242',
      '5555555555554444',
      '378282246310005',
      '6304000000000000',
    ])
      expect(judged(card, { check: 'payment_card' })).toBe('ok');
    expect(judged('4242424242424241', { check: 'payment_card' })).toBe('invalid');
    expect(judged('18', { check: 'luhn', min: 2 })).toBe('ok');
    expect(judged('42424242', { check: 'payment_card' })).toBe('invalid');
  });

  it('of a month of expiry are MMYY from this month on', () => {
    const month = (keys: string) => judged(keys, { check: 'expiry_month' });
    expect(['0926', '1226', '0127', '0946'].map(month)).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(['0826', '1326', '0027', '1046', '09260'].map(month)).toEqual(
      Array.from({ length: 5 }, () => 'invalid'),
    );
  });

  it('have one of the forms of the author', () => {
    const patterns = ['20xx', '1xxxx'];
    expect(['2026', '12345', '1234', '3026'].map((keys) => judged(keys, { patterns }))).toEqual([
      'ok',
      'ok',
      'invalid',
      'invalid',
    ]);
  });

  it('with one digit changed lose their check digit', () => {
    const digits = fc.array(fc.nat(9), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(digits, fc.nat(), fc.integer({ min: 1, max: 9 }), (body, at, by) => {
        const whole = [...Array(10).keys()].map((last) => [...body, last].join('')).find(isLuhn);
        if (whole === undefined) throw new Error('no check digit');
        const place = at % whole.length;
        const other = (Number(whole[place]) + by) % 10;
        expect(isLuhn(whole.slice(0, place) + other + whole.slice(place + 1))).toBe(false);
      }),
    );
  });
});
