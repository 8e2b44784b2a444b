// Parses a contact file into contacts: its columns, the numbers, and the context of each call. All faults of a file are
// reported together. Source: contract §5.6, §9.3, specification §2.8.

import { variableKey } from '../std/text/variable-name.ts';
import { dialledAddress } from '../telephony/provider/phone-address.ts';
import { invalid, readRecords, trimmed } from './csv-records.ts';

/** One row with a number. */
export interface SourceContact {
  /** Row in the file; the header is row 1. */
  rowNumber: number;
  /** Number in E.164. */
  phoneNumber: string;
  /** The call's context: every column as text, unchanged; `greeting_override` as an object. */
  variables: Record<string, unknown>;
}

export interface SourceRules {
  /** Columns that must exist, with a value in every row that is called. */
  requiredColumns: readonly string[];
}

const NUMBER_COLUMN = 'phone_number';
const GREETING = 'greeting_override';
const GREETING_COLUMNS = new Set([
  `${GREETING}_type`,
  `${GREETING}_text`,
  `${GREETING}_recording_id`,
]);
/** Longest name of a column, which people type as the name of a template variable. */
const COLUMN_CHARACTERS_MAX = 255;
/** How a number with its country code begins: `+`, also in full width. */
const WITH_COUNTRY = /^[+\uff0b]/;

/** Contacts in the order of the file, without rows that have no number. After the last row it throws
 *  CAMPAIGN_SOURCE_INVALID with all faults, if there are any: contacts yielded before are then void. Also throws
 *  what `bytes` throws. Keeps a few bytes per row, not the rows. */
export async function* readContacts(
  bytes: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  rules: SourceRules,
): AsyncGenerator<SourceContact> {
  const faults = new ContactFileErrors();
  const numbers = new Set<number>();
  let columns: Columns | undefined;
  let rows = 0;
  for await (const { number: row, cells } of readRecords(bytes, NUMBER_COLUMN)) {
    if (columns === undefined) {
      columns = readHeader(cells, rules, faults);
      continue;
    }
    if (isBlank(cells)) continue;
    rows += 1;
    const contact = readRow(columns, { row, cells }, faults);
    if (contact === undefined) continue;
    const digits = Number(contact.phoneNumber.slice(1));
    if (numbers.has(digits)) faults.duplicate(row);
    numbers.add(digits);
    yield contact;
  }
  if (rows === 0) throw invalid('CSV file must have a header row and at least one data row');
  const { text } = faults;
  if (text !== undefined) throw invalid(text);
}

interface Columns {
  names: readonly string[];
  /** Index of the number's column; -1 without one: rows are then only checked for other faults. */
  numberAt: number;
  required: readonly { name: string; at: number }[];
}

function readHeader(
  cells: readonly string[],
  { requiredColumns }: SourceRules,
  faults: ContactFileErrors,
): Columns {
  const names = cells.map((cell) => trimmed(cell).toLowerCase());
  // Spreadsheets export the empty columns that were once used.
  while (names.length > 0 && names.at(-1) === '') names.pop();
  const numberAt = names.indexOf(NUMBER_COLUMN);
  if (numberAt === -1) faults.header(`Source must contain a '${NUMBER_COLUMN}' column`);
  const unnamed = names.flatMap((name, i) => (name === '' ? [i + 1] : []));
  if (unnamed.length > 0) faults.header(`Columns without a name: ${unnamed.join(', ')}`);
  const repeated = names.filter((name, i) => name !== '' && names.indexOf(name) !== i);
  if (repeated.length > 0) {
    faults.header(`Columns with the same name: ${nameList([...new Set(repeated)])}`);
  }
  const odd = names.filter(
    (name) => name === '__proto__' || name.length > COLUMN_CHARACTERS_MAX || /\p{Cc}/u.test(name),
  );
  if (odd.length > 0) faults.header(`Columns with a name that cannot be used: ${nameList(odd)}`);
  const keys = names.map(variableKey);
  const columns = requiredColumns.map((name) => ({ name, at: keys.indexOf(variableKey(name)) }));
  const missing = columns.filter(({ at }) => at === -1).map(({ name }) => name);
  if (missing.length > 0) faults.missingVariables(missing);
  const required = columns.filter(({ at }) => at !== -1);
  return { names, numberAt, required };
}

/** Whether a line is empty. A line of commas has cells. */
function isBlank(cells: readonly string[]): boolean {
  return cells.length === 1 && cells[0]?.trim() === '';
}

/** The contact of a row; undefined without a number. */
function readRow(
  { names, numberAt, required }: Columns,
  { row, cells }: { row: number; cells: readonly string[] },
  faults: ContactFileErrors,
): SourceContact | undefined {
  if (cells.slice(names.length).some((cell) => cell.trim() !== '')) faults.tooManyCells(row);
  const written = trimmed(cells[numberAt] ?? '');
  if (written === '') return undefined;
  for (const { name, at } of required) {
    if ((cells[at] ?? '').trim() === '') faults.emptyVariable(name, row);
  }
  const phoneNumber = dialable(written);
  if (phoneNumber === undefined) {
    faults.badNumber(row);
    return undefined;
  }
  return { rowNumber: row, phoneNumber, variables: variablesOf(names, cells) };
}

/** The number in E.164, or undefined. It must begin with `+` (contract §9.3). National numbering plans are not checked:
 *  they change, private exchanges have their own, and one such row would refuse the whole file, while dialling it
 *  costs one failed call. */
function dialable(written: string): string | undefined {
  if (!WITH_COUNTRY.test(written)) return undefined;
  const address = dialledAddress(written, { hasExtensions: false, callerId: null });
  return 'to' in address ? address.to : undefined;
}

function variablesOf(names: readonly string[], cells: readonly string[]): Record<string, unknown> {
  const variables: Record<string, unknown> = {};
  names.forEach((name, at) => {
    if (!GREETING_COLUMNS.has(name)) variables[name] = cells[at] ?? '';
  });
  const cell = (part: string): string => cells[names.indexOf(`${GREETING}_${part}`)] ?? '';
  const greeting = greetingOf(cell('type').trim().toLowerCase(), cell);
  if (greeting !== undefined) variables[GREETING] = greeting;
  return variables;
}

/** The greeting in a row; undefined if its columns have none. */
function greetingOf(
  type: string,
  cell: (part: string) => string,
): Record<string, string> | undefined {
  if (type === 'text' && cell('text').trim() !== '') return { type, text: cell('text') };
  const recordingId = cell('recording_id').trim();
  return type === 'audio' && recordingId !== '' ? { type, recording_id: recordingId } : undefined;
}

/** Rows named in one message. */
const ROWS_SHOWN_MAX = 5;
/** Variables named in one reply; if an agent lacks more, the list itself is missing. */
const VARIABLES_SHOWN_MAX = 20;
/** Characters of a name in a message. */
const NAME_CHARACTERS_MAX = 100;

class RowNumbers {
  count = 0;
  readonly #shown: number[] = [];

  add(row: number): void {
    this.count += 1;
    if (this.#shown.length < ROWS_SHOWN_MAX) this.#shown.push(row);
  }

  toString(): string {
    const more = this.count - this.#shown.length;
    return `${this.#shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
}

/** Faults of a contact file, collected over all of its rows and reported together. Rows count
 *  from 2, as a spreadsheet shows them. */
class ContactFileErrors {
  /** Faults of the header; rows are not checked if there are any. */
  readonly #header: string[] = [];
  readonly #badNumbers = new RowNumbers();
  readonly #duplicates = new RowNumbers();
  readonly #tooLong = new RowNumbers();
  readonly #empty = new Map<string, RowNumbers>();

  header(text: string): void {
    this.#header.push(text);
  }

  missingVariables(names: readonly string[]): void {
    this.header(
      `Workflow uses template variables that are missing from the source data: ${nameList(names)}. ` +
        'Add a column for each (case, spaces and underscores of its name do not count) or give it a default in the workflow',
    );
  }

  badNumber(row: number): void {
    this.#badNumbers.add(row);
  }

  duplicate(row: number): void {
    this.#duplicates.add(row);
  }

  tooManyCells(row: number): void {
    this.#tooLong.add(row);
  }

  emptyVariable(name: string, row: number): void {
    const rows = this.#empty.get(name) ?? new RowNumbers();
    this.#empty.set(name, rows);
    rows.add(row);
  }

  /** All faults as one text; undefined without faults. */
  get text(): string | undefined {
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
}

function nameList(names: readonly string[]): string {
  const more = names.length - VARIABLES_SHOWN_MAX;
  const shown = names.slice(0, VARIABLES_SHOWN_MAX).map(quoted).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}

function quoted(name: string): string {
  return `'${name.slice(0, NAME_CHARACTERS_MAX)}'`;
}
