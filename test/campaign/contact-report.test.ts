import { describe, expect, it } from 'vitest';
import { reportOf } from '../../src/campaign/contact-report.ts';

const report = (text: string, requiredColumns: string[] = []) =>
  reportOf([Buffer.from(text)], { requiredColumns });
/** Faults as row, column and code. */
const faultsOf = async (text: string, requiredColumns: string[] = []) =>
  (await report(text, requiredColumns)).faults.map(({ row, column, code }) => [row, column, code]);

describe('the report of a contact file', () => {
  it('has the columns as calls get them, the first rows as they stand, and the counts', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `+1415555${1_000 + i};"N;${i}"`);
    const found = await report(['Phone_Number ;Name;;', ...rows, '', ';nobody'].join('\r\n'));
    expect(found).toMatchObject({ columns: ['phone_number', 'name'], rowsTotal: 31, contacts: 30 });
    expect(found.rows).toHaveLength(20);
    expect(found.rows[1]).toEqual({ row: 3, cells: ['+14155551001', 'N;1'] });
    expect([found.faults, found.faultsTotal, found.problems]).toEqual([[], 0, undefined]);
  });

  it('shortens long cells', async () => {
    const { rows } = await report(`phone_number,a\n+14155550100,${'x'.repeat(5_000)}\n`);
    expect(rows[0]?.cells[1]).toBe(`${'x'.repeat(200)}…`);
  });

  it('names each fault by its row, its column and its code, in the order of the file', async () => {
    const text =
      'phone_number,first name\n+14155550101,Ann\n0415,B,o\n+1 415 5550101,C\n+14155550102, \n';
    expect(await faultsOf(text, ['First_Name', 'city'])).toEqual([
      [1, 'city', 'VARIABLE_COLUMN_MISSING'],
      [3, null, 'VALUES_EXCEED_COLUMNS'],
      [3, 'phone_number', 'NUMBER_INVALID'],
      [4, 'phone_number', 'NUMBER_REPEATED'],
      [5, 'first name', 'VARIABLE_EMPTY'],
    ]);
    expect(await faultsOf('number,,a,A,__proto__\n1\n')).toEqual([
      [1, 'phone_number', 'COLUMN_MISSING'],
      [1, null, 'COLUMN_UNNAMED'],
      [1, 'a', 'COLUMN_REPEATED'],
      [1, '__proto__', 'COLUMN_NAME_UNUSABLE'],
    ]);
  });

  it('says what is wrong and what to do', async () => {
    const { faults } = await report('phone_number\n+14155550101\n0415\n+1 415 555 0101\n');
    expect(faults.map(({ message, remedy }) => `${message}. ${remedy}`)).toEqual([
      '“0415” is no telephone number with a country code. Write the number with + and its country code, such as +14155550100.',
      'The same number as in row 2. Delete one of the two rows.',
    ]);
  });

  it('lists fifty faults and counts all', async () => {
    const bad = Array.from({ length: 80 }, (_, i) => `0415${i}`);
    const found = await report(['phone_number', ...bad].join('\n'));
    expect([found.faults.length, found.faultsTotal, found.contacts]).toEqual([50, 80, 0]);
    expect(found.problems).toContain('2, 3, 4, 5, 6 and 75 more');
  });

  it('has a fault that ends the reading before those up to it', async () => {
    const bad = Array.from({ length: 80 }, () => '0415');
    const found = await report(['phone_number', ...bad, '"+14155550101'].join('\n'));
    expect(found.faults[0]).toMatchObject({ row: 82, column: null, code: 'CSV_UNREADABLE' });
    expect([found.faults.length, found.faultsTotal]).toEqual([50, 81]);
    expect(found.problems).toMatch(/^CSV file cannot be read from row 82 on/);
  });

  it.each([
    ['', null, 'ROWS_MISSING'],
    ['phone_number\n\n', null, 'ROWS_MISSING'],
    ['phone_number\n+1\0', null, 'FILE_NOT_TEXT'],
    [`phone_number${',a'.repeat(200)}\n`, 1, 'COLUMNS_EXCEEDED'],
    [`phone_number,a\n+1,${'x'.repeat(10_001)}\n`, 2, 'CELL_OVERSIZED'],
    [`phone_number${',a'.repeat(8)}\n+1${`,${'x'.repeat(9_000)}`.repeat(8)}\n`, 2, 'ROW_OVERSIZED'],
  ])('of a file that cannot be read on says why (%#)', async (text, row, code) => {
    expect((await report(text)).faults[0]).toMatchObject({ row, column: null, code });
  });

  it('fails as its source fails', async () => {
    const broken = (async function* () {
      yield Buffer.from('phone_number\n');
      throw new Error('the disk is gone');
    })();
    await expect(reportOf(broken, { requiredColumns: [] })).rejects.toThrow('the disk is gone');
  });
});
