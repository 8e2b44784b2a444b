import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readContacts, type SourceContact } from '../../src/campaign/contact-rows.ts';
import { codeOf } from '../../src/errors/gateway-error.ts';
import { rounds } from '../rounds.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

async function read(
  text: string | Uint8Array | AsyncIterable<Uint8Array>,
  requiredColumns: string[] = [],
): Promise<SourceContact[]> {
  const bytes = typeof text === 'string' || text instanceof Uint8Array ? pieces(text) : text;
  const contacts: SourceContact[] = [];
  for await (const contact of readContacts(bytes, { requiredColumns })) contacts.push(contact);
  return contacts;
}

const problems = async (
  text: string | Uint8Array | AsyncIterable<Uint8Array>,
  requiredColumns: string[] = [],
): Promise<string> => {
  const error = await read(text, requiredColumns).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(codeOf(error)).toBe('CAMPAIGN_SOURCE_INVALID');
  return error instanceof Error ? error.message : '';
};

describe('a contact file', () => {
  it('gives a contact per row, every column as text, rows counted from 2', async () => {
    expect(await read('phone_number,name,age\n+14155550100,Ana,41\n+14155550101,Ben,07\n')).toEqual(
      [
        {
          rowNumber: 2,
          phoneNumber: '+14155550100',
          variables: { phone_number: '+14155550100', name: 'Ana', age: '41' },
        },
        {
          rowNumber: 3,
          phoneNumber: '+14155550101',
          variables: { phone_number: '+14155550101', name: 'Ben', age: '07' },
        },
      ],
    );
  });

  it('may begin with a byte order mark, end its lines by CR LF, and quote line breaks', async () => {
    const text = '\ufeffphone_number,note\r\n+14155550100,"two\r\nlines, ""quoted"""\r\n';
    expect(await read(text)).toEqual([
      expect.objectContaining({
        variables: { phone_number: '+14155550100', note: 'two\r\nlines, "quoted"' },
      }),
    ]);
  });

  it.each([
    ['semicolons', ';'],
    ['tabs', '\t'],
  ])('may have %s between its cells, and commas in them', async (_name, mark) => {
    const lines = [
      ['"Phone_Number"', 'name', 'note'],
      ['+14155550100', 'Lovelace, Ada', `"a${mark}b"`],
    ];
    const text = `\ufeff${lines.map((cells) => cells.join(mark)).join('\r\n')}`;
    expect((await read(text)).map(({ variables }) => variables)).toEqual([
      { phone_number: '+14155550100', name: 'Lovelace, Ada', note: `a${mark}b` },
    ]);
  });

  it('has commas between its cells where its first line has the column by commas', async () => {
    const [contact] = await read('phone_number,a;b;c\n+14155550100,1;2\n');
    expect(contact?.variables).toEqual({ phone_number: '+14155550100', 'a;b;c': '1;2' });
  });

  it('may mix line ends and leave out the last', async () => {
    const rows = await read('phone_number\r\n+14155550100\n+14155550101\r+14155550102');
    expect(rows.map(({ rowNumber }) => rowNumber)).toEqual([2, 3, 4]);
  });

  it('may have its headers in any case and with blanks around', async () => {
    const [contact] = await read(' Phone_Number , First Name\n+14155550100,Ana\n');
    expect(contact?.variables).toEqual({ phone_number: '+14155550100', 'first name': 'Ana' });
  });

  it('has short rows filled with nothing, and long rows named', async () => {
    const [contact] = await read('phone_number,name\n+14155550100\n');
    expect(contact?.variables).toEqual({ phone_number: '+14155550100', name: '' });
    expect(await problems('phone_number\n+14155550100,Ana\n')).toBe(
      'More values than columns in rows: 2',
    );
    expect(await read('phone_number\n+14155550100,,\n')).toHaveLength(1);
  });

  it('may have rows without a number: they are not called', async () => {
    const text = 'name,phone_number\nAna,\n\n,,\nBen,+14155550100\n';
    expect((await read(text, ['name'])).map(({ rowNumber }) => rowNumber)).toEqual([5]);
  });

  it('folds the greeting columns into one object, and never passes them on as they are', async () => {
    const header =
      'phone_number,Greeting_Override_Type,greeting_override_text,greeting_override_recording_id';
    const rows = await read(
      [
        header,
        '+14155550100,text,Hi Ana,',
        '+14155550101, AUDIO ,,rec_1',
        '+14155550102,text,,rec_1',
        '+14155550103,,Hi,',
      ].join('\n'),
    );
    expect(rows.map(({ variables }) => variables)).toEqual([
      { phone_number: '+14155550100', greeting_override: { type: 'text', text: 'Hi Ana' } },
      { phone_number: '+14155550101', greeting_override: { type: 'audio', recording_id: 'rec_1' } },
      { phone_number: '+14155550102' },
      { phone_number: '+14155550103' },
    ]);
  });
});

describe('a contact file as a spreadsheet exports it', () => {
  const exported = (name: string) => read(readFileSync(`fixtures/contacts/${name}.csv`));
  const called = (contacts: SourceContact[]) => contacts.map(({ phoneNumber }) => phoneNumber);

  it('may begin with a line that names its separator', async () => {
    const [contact] = await exported('csv-excel-sep-line');
    expect(contact).toEqual({
      rowNumber: 2,
      phoneNumber: '+14155550101',
      variables: { phone_number: '+14155550101', name: 'Ana' },
    });
    for (const text of [
      '\ufeffsep=|\nphone_number|name\n+14155550101|Ana\n',
      '"SEP=\t"\r\nphone_number\tname\r\n+14155550101\tAna',
      'sep=;\rphone_number,name\r+14155550101,Ana\r',
    ]) {
      expect(await read(text), text).toEqual([contact]);
      const bytes = [...Buffer.from(text)].map((byte) => Buffer.from([byte]));
      expect(await read(pieces(...bytes)), text).toEqual([contact]);
    }
    expect(await problems('sep=;\n')).toContain('must have a header row');
  });

  it('may have empty columns at its end, whose cells are no values', async () => {
    const contacts = await exported('csv-trailing-empty-columns');
    expect(contacts.map(({ variables }) => variables)).toEqual([
      { phone_number: '+14155550101', name: 'Ana' },
    ]);
    expect(await problems('phone_number,,\n+14155550101,,x\n')).toBe(
      'More values than columns in rows: 2',
    );
  });

  it('may have marks that cannot be seen around its names and in its numbers', async () => {
    expect(called(await exported('csv-invisible-characters'))).toEqual([
      '+14155550101',
      '+14155550102',
      '+14155550103',
    ]);
    const text = '\u200bPhone_Number\u200e\n\u202a\u202a+1\u00ad415\u200b5550101\n\u200b\n';
    expect(called(await read(text))).toEqual(['+14155550101']);
  });

  it('may write the name of a variable with capitals, spaces or underscores', async () => {
    const text = readFileSync('fixtures/contacts/csv-column-with-space.csv');
    const [contact] = await read(text, ['First Name', 'first_name', 'Company']);
    expect(contact?.variables).toEqual({
      phone_number: '+14155550101',
      'first name': 'Ana',
      company: 'Acme',
    });
    expect(await problems(text, ['Firma'])).toContain("missing from the source data: 'Firma'");
  });

  it('may have full-width digits', async () => {
    const text = 'phone_number\n\uff0b\uff11\uff14\uff11\uff15 5550101\n';
    expect(called(await read(text))).toEqual(['+14155550101']);
  });
});

describe('a number in a contact file', () => {
  const numberOf = async (written: string): Promise<string | undefined> =>
    (await read(`phone_number\n"${written}"\n`))[0]?.phoneNumber;

  it('may be written in groups; it is kept in E.164', async () => {
    expect(await numberOf('+1 (415) 555-0100')).toBe('+14155550100');
    expect(await numberOf('+44 (0)20 7946 0958')).toBe('+442079460958');
    expect(await numberOf(' +49 89 1234567 ')).toBe('+49891234567');
    // No-break, narrow no-break, thin and figure spaces.
    for (const space of '\u00a0\u202f\u2009\u2007') {
      expect(await numberOf(`+33${space}1${space}42${space}68${space}53${space}00`)).toBe(
        '+33142685300',
      );
    }
  });

  it('needs a country code that exists and a length that E.164 allows, no more', async () => {
    expect(await numberOf('+15550100')).toBe('+15550100');
    expect(await numberOf('+1234567890')).toBe('+1234567890');
    for (const bad of [
      '14155550100',
      '+999123456789',
      '+1415',
      '+1415555010012345',
      '+1415555O100',
      '+14155550100 ext. 5',
      '+14155550100;ext=5',
      'sip:ana@example.com',
      '++14155550100',
      '+',
    ]) {
      expect(await problems(`phone_number\n"${bad}"\n`), bad).toBe(
        "Invalid phone numbers in rows: 2. All phone numbers must include country code (start with '+')",
      );
    }
  });

  it('is in one row only, in every notation', async () => {
    const text = 'phone_number\n+14155550100\n+14155550101\n+1 415 555 0100\n+1-415-555-0100\n';
    expect(await problems(text)).toBe('Duplicate phone numbers found in rows: 4, 5');
  });
});

describe('the faults of a contact file', () => {
  it('are reported in the words of the contract', async () => {
    const empty = 'CSV file must have a header row and at least one data row';
    expect(await problems('')).toBe(empty);
    expect(await problems('phone_number\n')).toBe(empty);
    expect(await problems('phone_number\n\n\n')).toBe(empty);
    expect(await problems('number\n+14155550100\n')).toBe(
      "Source must contain a 'phone_number' column",
    );
    expect(await problems('phone_number,a\n+14155550100,x\n', ['first', 'a', 'last'])).toContain(
      "Workflow uses template variables that are missing from the source data: 'first', 'last'",
    );
    expect(await problems('phone_number,a\n+14155550100, \n+14155550101,x\n', ['a'])).toBe(
      "Template variable 'a' is empty in rows: 2",
    );
  });

  it('name five rows of a kind and count the rest', async () => {
    const bad = Array.from({ length: 8 }, (_, i) => `41555501${i}`).join('\n');
    expect(await problems(`phone_number\n${bad}\n`)).toBe(
      'Invalid phone numbers in rows: 2, 3, 4, 5, 6 and 3 more. ' +
        "All phone numbers must include country code (start with '+')",
    );
  });

  it('are reported together', async () => {
    const text = 'phone_number,a\n1,x\n+14155550100,\n+14155550100,x,y\n';
    expect(await problems(text, ['a'])).toBe(
      "Invalid phone numbers in rows: 2. All phone numbers must include country code (start with '+'); " +
        'Duplicate phone numbers found in rows: 4; More values than columns in rows: 4; ' +
        "Template variable 'a' is empty in rows: 3",
    );
  });

  it('include columns that have no name, the same name or one that means something else', async () => {
    expect(await problems('phone_number,,a,A,__proto__\n+14155550100\n')).toBe(
      "Columns without a name: 2; Columns with the same name: 'a'; " +
        "Columns with a name that cannot be used: '__proto__'",
    );
  });

  it('end the reading where the bytes are no such file', async () => {
    expect(await problems(Buffer.from('phone_number\n+4912345678\xfc', 'latin1'))).toContain(
      'not UTF-8',
    );
    expect(await problems(pieces('phone_number\n+49', Buffer.from([0xc3])))).toContain('not UTF-8');
    expect(await problems('phone_number\n+14155550100\0')).toContain('NUL');
    expect(await problems('phone_number\n"+14155550100\n+14155550101\n')).toBe(
      'CSV file cannot be read from row 2 on: a quote is not closed or the row is too long',
    );
    expect(await problems(`phone_number${',a'.repeat(200)}\n`)).toContain('more than 200 columns');
    expect(await problems(`phone_number,a\n+1,${'x'.repeat(10_001)}\n`)).toContain(
      'more than 10000 characters',
    );
    const wide = Array.from({ length: 8 }, (_, i) => `c${i}`).join();
    expect(
      await problems(`phone_number,${wide}\n+14155550101${`,${'x'.repeat(9_000)}`.repeat(8)}\n`),
    ).toContain('Row 2 has more than 60000 bytes');
  });

  it('include more bytes or rows than a list may have', async () => {
    const many = (async function* () {
      yield Buffer.from('phone_number,note\n');
      for (let i = 0; i < 1_100; i++) yield Buffer.from(`,${'x'.repeat(9_990)}\n`);
    })();
    expect(await problems(many)).toBe('CSV file is larger than 10485760 bytes');
    expect(await problems(`phone_number,a\n${',\n'.repeat(200_001)}`)).toBe(
      'CSV file has more than 200000 rows',
    );
  });
});

describe('any bytes', () => {
  it('give contacts or the one error code', async () => {
    const alphabet = fc.constantFrom(
      ...['phone_number', 'name', '+14155550100', '+4989123', ',', '"', '""', '\n', '\r\n', '\r'],
      ...['\ufeff', '\0', 'ä', ' ', 'x', '\ud800'],
    );
    const text = fc.array(alphabet, { maxLength: 60 }).map((parts) => parts.join(''));
    const some = fc.oneof(
      text.map((each) => Buffer.from(each)),
      fc.uint8Array({ maxLength: 200 }),
    );
    await fc.assert(
      fc.asyncProperty(some, async (bytes) => {
        const outcome = await read(bytes, ['name']).catch(codeOf);
        expect(Array.isArray(outcome) || outcome === 'CAMPAIGN_SOURCE_INVALID').toBe(true);
      }),
      { numRuns: rounds(400) },
    );
  });

  it('mean the same however they are cut, and every cell comes back as it was written', async () => {
    const cell = fc
      .string({ unit: 'grapheme', maxLength: 12 })
      .filter((each) => !each.includes('\0'));
    const rows = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 8 });
    const cuts = fc.array(fc.nat(200), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rows, cuts, fc.constantFrom('\n', '\r\n'), async (cells, at, end) => {
        const quoted = (each: string): string => `"${each.replaceAll('"', '""')}"`;
        const lines = cells.map(([a, b], i) => [`+1415555${1_000 + i}`, quoted(a), quoted(b)]);
        const bytes = Buffer.from(
          [['phone_number', 'a', 'b'], ...lines].map((line) => line.join(',') + end).join(''),
        );
        const edges = [0, ...at.filter((each) => each < bytes.length).sort((x, y) => x - y)];
        const parts = edges.map((from, i) => bytes.subarray(from, edges[i + 1] ?? bytes.length));
        const contacts = await read(pieces(...parts));
        const well = (each: string): string => Buffer.from(each).toString();
        expect(contacts.map(({ variables }) => [variables['a'], variables['b']])).toEqual(
          cells.map((row) => row.map(well)),
        );
      }),
      { numRuns: rounds(300) },
    );
  });
});

describe('reading a contact file', () => {
  it('stops at the source when the consumer stops', async () => {
    let closed = false;
    const endless = (async function* () {
      try {
        yield Buffer.from('phone_number\n');
        for (let i = 0; ; i++) yield Buffer.from(`+1415${1_000_000 + i}\n`);
      } finally {
        closed = true;
      }
    })();
    for await (const { rowNumber } of readContacts(endless, { requiredColumns: [] })) {
      if (rowNumber > 3) break;
    }
    await new Promise((resolve) => setImmediate(resolve));
    expect(closed).toBe(true);
  });

  it('fails as its source fails', async () => {
    const broken = (async function* () {
      yield Buffer.from('phone_number\n');
      throw new Error('the disk is gone');
    })();
    await expect(read(broken)).rejects.toThrow('the disk is gone');
  });
});
