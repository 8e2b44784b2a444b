// Times from clients. Programs made from the OpenAPI description write ISO 8601 as their language does: Java leaves out
// seconds that are zero, PHP and strftime write offsets without a colon. Such times were refused.

import { describe, expect, it } from 'vitest';
import { momentIn, nameIn } from '../../../src/api/http/values.ts';

const read = (text: string): string | undefined => momentIn.safeParse(text).data?.toISOString();

describe('a name from a client', () => {
  it('has something that can be seen', () => {
    for (const name of [' ', '\t\n', '\u200b', ' \u200b\u00a0']) {
      expect(nameIn(10).safeParse(name).error?.issues, JSON.stringify(name)).toMatchObject([
        { code: 'custom', message: 'a name must not be blank' },
      ]);
    }
    expect(nameIn(10).safeParse('').error?.issues).toMatchObject([{ code: 'too_small' }]);
    for (const name of ['a', ' a ', '\u{1f600}', '-']) {
      expect(nameIn(10).parse(name)).toBe(name);
    }
  });
});

describe('a time from a client', () => {
  it.each([
    ['2026-05-01', '2026-05-01T00:00:00.000Z'],
    ['2026-05-01T10:00:30.123456', '2026-05-01T10:00:30.123Z'],
    ['2026-05-01T10:00:30Z', '2026-05-01T10:00:30.000Z'],
    ['2026-05-01T10:00:30-03:30', '2026-05-01T13:30:30.000Z'],
    ['2026-05-01T10:00', '2026-05-01T10:00:00.000Z'],
    ['2026-05-01T10:00Z', '2026-05-01T10:00:00.000Z'],
    ['2026-05-01T10:00+02:00', '2026-05-01T08:00:00.000Z'],
    ['2026-05-01T10:00:30+0200', '2026-05-01T08:00:30.000Z'],
    ['2026-05-01T10:00:30.5+02', '2026-05-01T08:00:30.500Z'],
  ])('may be written %s', (text, moment) => {
    expect(read(text)).toBe(moment);
  });

  it.each([
    '',
    '2026-02-30',
    '2026-02-30T10:00Z',
    '2026-05-01T24:00Z',
    '2026-05-01T10:00+24:00',
    '2026-05-01T10',
    // The plus of a query that was not encoded.
    '2026-05-01T10:00:00 02:00',
    '20260501T100000Z',
    '1777629600',
  ])('is none: %j', (text) => {
    expect(read(text)).toBeUndefined();
  });
});
