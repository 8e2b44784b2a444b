// Parses a contact file into contacts: its columns, the numbers, and the context of each call. contact-faults.ts collects
// the faults of the file. Source: contract §5.6, §9.3, specification §2.8.

import { variableKey } from '../std/text/variable-name.ts';
import { dialledAddress } from '../telephony/provider/phone-address.ts';
import { ContactFaults } from './contact-faults.ts';
import { invalid, readRecords, trimmed, unreadable } from './csv-records.ts';

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
  const faults = new ContactFaults();
  for await (const { contact } of readRows(bytes, rules, faults)) {
    if (contact !== undefined) yield contact;
  }
  const { text } = faults;
  if (text !== undefined) throw invalid(text);
}

/** One row of the file; the first one is the header, with the names as contacts have them. */
interface SourceRow {
  row: number;
  cells: readonly string[];
  /** Undefined: the row is not called. */
  contact: SourceContact | undefined;
}

/** All rows but blank ones. Their faults go to `faults`. Throws CAMPAIGN_SOURCE_INVALID where the rest of the file cannot
 *  be read, and what `bytes` throws. */
export async function* readRows(
  bytes: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  rules: SourceRules,
  faults: ContactFaults,
): AsyncGenerator<SourceRow> {
  /** Row of each number's first contact. */
  const rowsByNumber = new Map<number, number>();
  let columns: Columns | undefined;
  let rows = 0;
  for await (const { number: row, cells } of readRecords(bytes, NUMBER_COLUMN)) {
    if (columns === undefined) {
      columns = readHeader(cells, rules, faults);
      yield { row, cells: columns.names, contact: undefined };
      continue;
    }
    if (isBlank(cells)) continue;
    rows += 1;
    const contact = readRow(columns, { row, cells }, faults);
    if (contact !== undefined) {
      const digits = Number(contact.phoneNumber.slice(1));
      const first = rowsByNumber.get(digits);
      if (first === undefined) rowsByNumber.set(digits, row);
      else faults.duplicate(row, { column: NUMBER_COLUMN, first });
    }
    yield { row, cells, contact };
  }
  if (rows === 0) {
    const text = 'CSV file must have a header row and at least one data row';
    throw unreadable('ROWS_MISSING', text);
  }
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
  faults: ContactFaults,
): Columns {
  const names = cells.map((cell) => trimmed(cell).toLowerCase());
  // Spreadsheets export the empty columns that were once used.
  while (names.length > 0 && names.at(-1) === '') names.pop();
  const numberAt = names.indexOf(NUMBER_COLUMN);
  if (numberAt === -1) faults.missingColumn(NUMBER_COLUMN);
  const unnamed = names.flatMap((name, i) => (name === '' ? [i + 1] : []));
  if (unnamed.length > 0) faults.unnamedColumns(unnamed);
  const repeated = names.filter((name, i) => name !== '' && names.indexOf(name) !== i);
  if (repeated.length > 0) faults.repeatedColumns([...new Set(repeated)]);
  const odd = names.filter(
    (name) => name === '__proto__' || name.length > COLUMN_CHARACTERS_MAX || /\p{Cc}/u.test(name),
  );
  if (odd.length > 0) faults.unusableColumns(odd);
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
  faults: ContactFaults,
): SourceContact | undefined {
  if (cells.slice(names.length).some((cell) => cell.trim() !== '')) faults.tooManyCells(row);
  const written = trimmed(cells[numberAt] ?? '');
  if (written === '') return undefined;
  for (const { name, at } of required) {
    if ((cells[at] ?? '').trim() === '') {
      faults.emptyVariable(name, { row, column: names[at] ?? name });
    }
  }
  const phoneNumber = dialable(written);
  if (phoneNumber === undefined) {
    faults.badNumber(row, { column: NUMBER_COLUMN, written });
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
