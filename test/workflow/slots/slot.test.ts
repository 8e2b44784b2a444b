import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SlotType } from '../../../src/model/expected-input.ts';
import { slotType } from '../../../src/workflow/nodes/fields.ts';
import { needsConfirmation, parseKeys, parseSlot } from '../../../src/workflow/slots/slot.ts';
import { rounds } from '../../rounds.ts';

const now = Date.UTC(2026, 8, 3, 16, 5, 0); // Thursday, 3 September 2026.

function value(type: SlotType, text: string, more: object = {}): unknown {
  return parseSlot({ name: 'x', type, ...more }, text, now)?.value;
}

describe('digits as they are spoken', () => {
  it.each([
    ['five five five one two', '55512'],
    ['Five, five... five, one two.', '55512'],
    ['double seven', '77'],
    ['triple oh four', '0004'],
    ['oh one six zero', '0160'],
    ['twenty three forty five', '2345'],
    ["it's five five um five", '555'],
    ['my code is 4 2 1 9', '4219'],
    ['4219', '4219'],
    ['555-12', '55512'],
  ])('%s', (text, expected) => {
    expect(value('digits', text)).toBe(expected);
  });

  it.each([
    ['half past two'],
    ['five dollars'],
    ['five no six'],
    ['not five'],
    ['double'],
    ['monday'],
    [''],
    ['five or six'],
  ])('%s gives none', (text) => {
    expect(value('digits', text)).toBeUndefined();
  });

  it('must be as many as the author wants', () => {
    const four = { digits_min: 4, digits_max: 4 };
    expect(value('digits', 'one two three', four)).toBeUndefined();
    expect(value('digits', 'one two three four', four)).toBe('1234');
    expect(value('digits', 'one two three four five', four)).toBeUndefined();
    expect(value('digit', 'seven')).toBe('7');
    expect(value('digit', 'seventeen')).toBeUndefined();
  });
});

describe('numbers', () => {
  it.each([
    ['twenty five', 25],
    ['twenty-five', 25],
    ['one hundred and five', 105],
    ['three hundred', 300],
    ['two thousand and twenty six', 2026],
    ['one million two hundred thousand', 1_200_000],
    ['nineteen', 19],
    ['12', 12],
    ['3.5', 3.5],
    ['three point one four', 3.14],
    ['minus two', -2],
    ['five thousand', 5_000],
    ['1,000', 1_000],
    ['12,500.5', 12_500.5],
    ['about 1,200,000.', 1_200_000],
  ])('%s', (text, expected) => {
    expect(value('number', text)).toBe(expected);
  });

  it.each(['five five', 'two to four', 'half past two', 'none', 'seven eight'])(
    '%s is not one number',
    (text) => {
      expect(value('number', text)).toBeUndefined();
    },
  );
});

describe('dates', () => {
  it.each([
    ['twenty third of march', '2027-03-23'],
    ['the 23rd of March', '2027-03-23'],
    ['March twenty third', '2027-03-23'],
    ['november the fifth', '2026-11-05'],
    ['on October 1', '2026-10-01'],
    ['third of september', '2026-09-03'],
    ['second of september', '2027-09-02'],
    ['the first of may twenty twenty eight', '2028-05-01'],
    ['May 1st, 2028', '2028-05-01'],
    ['twenty ninth of february', '2028-02-29'],
    ['thirty first of december', '2026-12-31'],
    ['today', '2026-09-03'],
    ['tomorrow please', '2026-09-04'],
    ['the day after tomorrow', '2026-09-05'],
  ])('%s', (text, expected) => {
    expect(value('date', text)).toBe(expected);
  });

  it.each([
    'thirty first of april',
    'march',
    'the twenty third',
    'not tomorrow',
    'today or tomorrow',
    'fortieth of may',
  ])('%s is no date', (text) => {
    expect(value('date', text)).toBeUndefined();
  });

  it('are read back with the month, and with the year if it is another', () => {
    const date = { name: 'x', type: 'date' } as const;
    expect(parseSlot(date, 'first of october', now)?.spoken).toBe('October 1');
    expect(parseSlot(date, 'first of may', now)?.spoken).toBe('May 1, 2027');
  });
});

describe('times', () => {
  it.each([
    ['half past two', '2:30'],
    ['half past two in the afternoon', '14:30'],
    ['quarter to nine in the morning', '08:45'],
    ['a quarter past four pm', '16:15'],
    ['ten minutes to one', '12:50'],
    ['twenty five past six', '6:25'],
    ['two thirty', '2:30'],
    ['two thirty p.m.', '14:30'],
    ['at two oh five', '2:05'],
    ["ten o'clock", '10:00'],
    ['ten', '10:00'],
    ['at eleven am please', '11:00'],
    ['nine this morning', '09:00'],
    ['2:30pm', '14:30'],
    ['14:30', '14:30'],
    ['fourteen thirty', '14:30'],
    ['noon', '12:00'],
    ['midnight', '00:00'],
    ['twelve thirty am', '00:30'],
    ['twelve pm', '12:00'],
  ])('%s', (text, expected) => {
    expect(value('time', text)).toBe(expected);
  });

  it.each(['25:00', 'two people', 'fourteen am', 'half past twenty', 'later', 'ten or eleven'])(
    '%s is no time',
    (text) => {
      expect(value('time', text)).toBeUndefined();
    },
  );
});

describe('other slots', () => {
  it.each<[SlotType, string, unknown]>([
    ['weekday', 'Monday', 'monday'],
    ['weekday', 'next tuesday please', 'tuesday'],
    ['weekday', 'wednesdays', 'wednesday'],
    ['weekday', 'monday, yes monday', 'monday'],
    ['weekday', 'monday or tuesday', undefined],
    ['weekday', 'not friday', undefined],
    ['weekday', 'someday', undefined],
    ['money', 'twenty five dollars and fifty cents', 25.5],
    ['money', '$25.50', 25.5],
    ['money', '$1,250', 1_250],
    ['money', '1,000 dollars', 1_000],
    ['money', 'twenty dollars fifty', 20.5],
    ['money', 'fifty cents', 0.5],
    ['money', 'one thousand two hundred pounds', 1_200],
    ['money', 'thirty', 30],
    ['money', 'thirty people', undefined],
    ['spelling', 's m i t h', 'SMITH'],
    ['spelling', 'bravo for b o b', 'BOB'],
    ['spelling', 'b as in bravo, a, double r y', 'BARRY'],
    ['spelling', 'alpha bravo one two', 'AB12'],
    ['spelling', 'i', undefined],
    ['spelling', 'smith', undefined],
    ['yes_no', 'Yes, please.', true],
    ['yes_no', 'yeah that works', true],
    ['yes_no', "that's right", true],
    ['yes_no', 'No, thank you.', false],
    ['yes_no', "that's not right", false],
    ['yes_no', 'yes and no', undefined],
    ['yes_no', 'not yes', undefined],
    ['yes_no', 'maybe', undefined],
  ])('%s: %s', (type, text, expected) => {
    expect(value(type, text)).toBe(expected);
  });

  it('reads amounts, digits and letters back', () => {
    const back = (type: SlotType, text: string) =>
      parseSlot({ name: 'x', type }, text, now)?.spoken;
    expect(back('money', 'one dollar and five cents')).toBe('1 dollar and 5 cents');
    expect(back('digits', 'five five one')).toBe('5 5 1');
    expect(back('spelling', 'a b c')).toBe('A B C');
    expect(back('time', 'half past two pm')).toBe('2:30 PM');
  });

  it('takes keys for what keys can say', () => {
    const keys = (type: SlotType, text: string) => parseKeys({ name: 'x', type }, text)?.value;
    expect(keys('digits', '55512#')).toBe('55512');
    expect(keys('digit', '7')).toBe('7');
    expect(keys('number', '42')).toBe(42);
    expect([keys('yes_no', '1'), keys('yes_no', '2'), keys('yes_no', '3')]).toEqual([
      true,
      false,
      undefined,
    ]);
    expect([keys('weekday', '1'), keys('digits', '*'), keys('digits', '')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('wants a yes for long digits, dates, money and spelling', () => {
    const wants = (type: SlotType, given: string | number) =>
      needsConfirmation({ name: 'x', type }, given);
    expect([wants('digits', '123'), wants('digits', '1234')]).toEqual([false, true]);
    expect([wants('date', ''), wants('money', 1), wants('spelling', 'AB')]).toEqual([
      true,
      true,
      true,
    ]);
    expect([wants('weekday', 'monday'), wants('time', '2:30'), wants('number', 12_345)]).toEqual([
      false,
      false,
      false,
    ]);
  });
});

describe('any text', () => {
  it('gives a value or none, never an exception', () => {
    const word = fc.constantFrom(
      ...'five double oh twenty third march half past two to quarter a.m. pm $25.50 2:30 monday yes no not'.split(
        ' ',
      ),
      ..."point hundred thousand and of the dollars cents b as in bravo o'clock 23rd 2027 , - #".split(
        ' ',
      ),
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(word, { maxLength: 14 }).map((words) => words.join(' ')),
    );
    fc.assert(
      fc.property(text, fc.constantFrom(...slotType.options), (said, type) => {
        const slot = { name: 'x', type };
        const parsed = parseSlot(slot, said, now);
        parseKeys(slot, said);
        expect(['string', 'number', 'boolean', 'undefined']).toContain(typeof parsed?.value);
        if (typeof parsed?.value === 'number') expect(Number.isFinite(parsed.value)).toBe(true);
      }),
      { numRuns: rounds(3_000) },
    );
  });
});
