// Values that PostgreSQL takes.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isRowId, jsonText, plainText } from '../../../src/store/db/column-values.ts';

describe('stored values', () => {
  it.each(['1', '42', '999999999999999999'])('takes %s for an id', (id) => {
    expect(isRowId(id)).toBe(true);
  });
  it.each(['', '0', '-1', '1.5', 'abc', '1e3', ' 1', '01', '9999999999999999999', '1\n'])(
    'takes %j for no id',
    (id) => expect(isRowId(id)).toBe(false),
  );

  it('keeps any JSON as it is, but for NUL and half surrogate pairs', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = jsonText(value);
        expect(text).not.toMatch(/(^|[^\\])(\\\\)*\\u(0000|d[89a-f])/i);
        if (!/\\u(0000|d[89a-f])/i.test(JSON.stringify(value))) {
          expect(text).toBe(JSON.stringify(value));
        }
      }),
    );
    expect(jsonText({ 'k\0': ['a\0', '\ud800', '\u{1F600}', '\\u0000'] })).toBe(
      '{"k":["a","\ufffd","\u{1F600}","\\\\u0000"]}',
    );
    expect(plainText('a\0b')).toBe('ab');
  });
});
