import { parse } from 'csv-parse/sync';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvLine } from '../../../src/api/reports/run-report.ts';

describe('a line of CSV', () => {
  it('is read back as it was, whatever is in its fields', () => {
    const field = fc.string({ unit: 'binary' }).filter((text) => !/^[=+\-@\t\r]/.test(text));
    void fc.assert(
      fc.property(fc.array(field, { minLength: 2, maxLength: 5 }), (fields) => {
        expect(parse(csvLine(fields), { record_delimiter: '\r\n' })).toEqual([fields]);
      }),
    );
  });

  it.each([
    ['=1+1', "'=1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['-cmd', "'-cmd"],
    ['+cmd|x', "'+cmd|x"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ])('makes the formula %j text', (value, written) => {
    expect(csvLine([value])).toBe(`${written}\r\n`);
  });

  it('leaves numbers and telephone numbers as they are', () => {
    expect(csvLine(['+15550100', -3.5, 0, null, undefined, true])).toBe(
      '+15550100,-3.5,0,,,true\r\n',
    );
  });

  it('writes objects and lists as JSON', () => {
    expect(csvLine([{ a: 1 }, ['x']])).toBe('"{""a"":1}","[""x""]"\r\n');
  });
});
