// The faults of a contact file: one by one with their rows and columns, for who corrects the file, and all in one text,
// for the refusal of a campaign. Source: contract §9.3.

import { z } from 'zod';

/** What to do about each kind of fault, by its code. */
const REMEDIES = {
  FILE_OVERSIZED: 'Divide the file among several campaigns.',
  FILE_NOT_TEXT: 'Save the file as CSV UTF-8.',
  CSV_UNREADABLE: 'Close the quotes of the row, and double each quote inside a value.',
  ROWS_MISSING: 'Add a header row and a row for each contact.',
  ROWS_EXCEEDED: 'Divide the file among several campaigns.',
  COLUMNS_EXCEEDED: 'Keep only the columns that the agent uses.',
  ROW_OVERSIZED: 'Shorten the values of the row.',
  CELL_OVERSIZED: 'Shorten the value.',
  COLUMN_MISSING: 'Add the column, separated by commas, semicolons or tabs.',
  COLUMN_UNNAMED: 'Give the column a name in the first row, or delete it.',
  COLUMN_REPEATED: 'Rename or delete one of the columns.',
  COLUMN_NAME_UNUSABLE: 'Use a name of at most 255 characters without control characters.',
  VARIABLE_COLUMN_MISSING:
    'Add a column of that name (case, spaces and underscores do not count), or give the variable a default in the agent.',
  VARIABLE_EMPTY: 'Fill the value in, or give the variable a default in the agent.',
  VALUES_EXCEED_COLUMNS:
    'Put quotes around a value that contains the separator, or name the further column in the first row.',
  NUMBER_INVALID: 'Write the number with + and its country code, such as +14155550100.',
  NUMBER_REPEATED: 'Delete one of the two rows.',
} as const;

export type ContactFaultCode = keyof typeof REMEDIES;
/** Faults after which the rest of the file is not read. */
export type ContactFileFaultCode =
  | 'FILE_OVERSIZED'
  | 'FILE_NOT_TEXT'
  | 'CSV_UNREADABLE'
  | 'ROWS_MISSING'
  | 'ROWS_EXCEEDED'
  | 'COLUMNS_EXCEEDED'
  | 'ROW_OVERSIZED'
  | 'CELL_OVERSIZED';

/** Object.keys widens the keys of the table. */
const codes = Object.keys(REMEDIES) as ContactFaultCode[];

export const contactFault = z.object({
  row: z.int().nullable().describe('Row in the file; the header is row 1. Null: the whole file.'),
  column: z.string().nullable().describe('Name of the column. Null: the whole row.'),
  code: z.enum(codes).describe('What the fault is, for programs.'),
  message: z.string().describe('What the fault is, for people.'),
  remedy: z.string().describe('What to do about it.'),
});
export type ContactFault = z.infer<typeof contactFault>;

/** Faults that are listed one by one; a file with more has a wrong column. */
export const FAULTS_LISTED_MAX = 50;
/** Rows named in one message. */
const ROWS_NAMED_MAX = 5;
/** Variables named in one reply; if an agent lacks more, the list itself is missing. */
const VARIABLES_SHOWN_MAX = 20;
/** Characters of a name in a message. */
const NAME_CHARACTERS_MAX = 100;
/** Characters of a value in a message: more than a number has. */
const VALUE_CHARACTERS_MAX = 30;

class RowNumbers {
  count = 0;
  readonly #shown: number[] = [];

  add(row: number): void {
    this.count += 1;
    if (this.#shown.length < ROWS_NAMED_MAX) this.#shown.push(row);
  }

  toString(): string {
    const more = this.count - this.#shown.length;
    return `${this.#shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
}

/** Faults of a contact file, collected over all of its rows. Rows count from 2, as a spreadsheet shows them. */
export class ContactFaults {
  /** All faults, listed or not. */
  total = 0;
  readonly #listed: ContactFault[] = [];
  #file: string | undefined;
  readonly #header: string[] = [];
  readonly #badNumbers = new RowNumbers();
  readonly #duplicates = new RowNumbers();
  readonly #tooLong = new RowNumbers();
  readonly #empty = new Map<string, RowNumbers>();

  /** The first faults, in the order of the file. One that ended the reading stands before all others. */
  get listed(): readonly ContactFault[] {
    return this.#listed;
  }

  /** A fault that ended the reading. */
  file(code: ContactFileFaultCode, { row, text }: { row: number | null; text: string }): void {
    this.#file = text;
    this.total += 1;
    this.#listed.unshift({ row, column: null, code, message: text, remedy: REMEDIES[code] });
    this.#listed.splice(FAULTS_LISTED_MAX);
  }

  missingColumn(name: string): void {
    this.#header.push(`Source must contain a '${name}' column`);
    this.#add('COLUMN_MISSING', 1, { column: name, message: 'There is no such column' });
  }

  /** `positions`: of columns, from 1. */
  unnamedColumns(positions: readonly number[]): void {
    this.#header.push(`Columns without a name: ${positions.join(', ')}`);
    for (const position of positions) {
      this.#add('COLUMN_UNNAMED', 1, { message: `Column ${position} has no name` });
    }
  }

  repeatedColumns(names: readonly string[]): void {
    this.#header.push(`Columns with the same name: ${nameList(names)}`);
    for (const column of names) {
      this.#add('COLUMN_REPEATED', 1, { column, message: 'Several columns have this name' });
    }
  }

  unusableColumns(names: readonly string[]): void {
    this.#header.push(`Columns with a name that cannot be used: ${nameList(names)}`);
    for (const column of names) {
      this.#add('COLUMN_NAME_UNUSABLE', 1, { column, message: 'The name cannot be used' });
    }
  }

  missingVariables(names: readonly string[]): void {
    this.#header.push(
      `Workflow uses template variables that are missing from the source data: ${nameList(names)}. ` +
        'Add a column for each (case, spaces and underscores of its name do not count) or give it a default in the workflow',
    );
    for (const column of names) {
      const message = 'The agent has a template variable of this name, and the file no such column';
      this.#add('VARIABLE_COLUMN_MISSING', 1, { column, message });
    }
  }

  badNumber(row: number, { column, written }: { column: string; written: string }): void {
    this.#badNumbers.add(row);
    const shown = written.slice(0, VALUE_CHARACTERS_MAX);
    const message = `“${shown}${shown === written ? '' : '…'}” is no telephone number with a country code`;
    this.#add('NUMBER_INVALID', row, { column, message });
  }

  /** `first`: row with the same number. */
  duplicate(row: number, { column, first }: { column: string; first: number }): void {
    this.#duplicates.add(row);
    this.#add('NUMBER_REPEATED', row, { column, message: `The same number as in row ${first}` });
  }

  tooManyCells(row: number): void {
    this.#tooLong.add(row);
    this.#add('VALUES_EXCEED_COLUMNS', row, { message: 'More values than columns' });
  }

  emptyVariable(name: string, { row, column }: { row: number; column: string }): void {
    const rows = this.#empty.get(name) ?? new RowNumbers();
    this.#empty.set(name, rows);
    rows.add(row);
    this.#add('VARIABLE_EMPTY', row, {
      column,
      message: 'The agent needs a value, which is empty',
    });
  }

  /** All faults as one text; undefined without faults. A fault that ended the reading stands alone. */
  get text(): string | undefined {
    if (this.#file !== undefined) return this.#file;
    const texts = [...this.#header];
    if (this.#badNumbers.count > 0) {
      texts.push(
        `Invalid phone numbers in rows: ${this.#badNumbers}. ` +
          "All phone numbers must include country code (start with '+')",
      );
    }
    if (this.#duplicates.count > 0) {
      texts.push(`Duplicate phone numbers found in rows: ${this.#duplicates}`);
    }
    if (this.#tooLong.count > 0) {
      texts.push(`More values than columns in rows: ${this.#tooLong}`);
    }
    for (const [name, rows] of [...this.#empty].slice(0, VARIABLES_SHOWN_MAX)) {
      texts.push(`Template variable ${quoted(name)} is empty in rows: ${rows}`);
    }
    return texts.length === 0 ? undefined : texts.join('; ');
  }

  #add(
    code: ContactFaultCode,
    row: number,
    { column = null, message }: { column?: string | null; message: string },
  ): void {
    this.total += 1;
    if (this.#listed.length >= FAULTS_LISTED_MAX) return;
    const name = column === null ? null : column.slice(0, NAME_CHARACTERS_MAX);
    this.#listed.push({ row, column: name, code, message, remedy: REMEDIES[code] });
  }
}

function nameList(names: readonly string[]): string {
  const more = names.length - VARIABLES_SHOWN_MAX;
  const shown = names.slice(0, VARIABLES_SHOWN_MAX).map(quoted).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function quoted(name: string): string {
  return `'${name.slice(0, NAME_CHARACTERS_MAX)}'`;
}
