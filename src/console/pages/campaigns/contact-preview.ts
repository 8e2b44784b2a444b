// A contact file as it is on the user's device: its columns, its first rows, and the faults that are seen without the
// agent. The gateway checks the file again, with the agent's variables, when the campaign is created. Source: RFC 4180;
// contract §9.3.

import { recordsIn } from './csv-text.ts';

export interface ContactPreview {
  columns: string[];
  /** The first rows. */
  rows: ContactRow[];
  /** Rows with a number. */
  contacts: number;
  faults: ContactFault[];
  /** Faults that are not in the list. */
  furtherFaults: number;
}

export interface ContactRow {
  /** The header is row 1. */
  number: number;
  cells: string[];
}

export interface ContactFault {
  /** Undefined if it concerns the file. */
  row?: number;
  column?: string;
  text: string;
}

/** The limit of uploads. */
export const FILE_BYTES_MAX = 10_485_760;
const ROWS_SHOWN = 5;
const FAULTS_MAX = 20;
const ROWS_MAX = 200_000;
const NUMBER_COLUMN = 'phone_number';
/** `+` and a digit; other signs between digits are ignored by the gateway. */
const NUMBER = /^[+\uff0b][\s().-]*\d[\d\s().\-/]{3,30}$/;

/** Rejects with an error whose message is for the user. */
export async function previewOf(file: File): Promise<ContactPreview> {
  if (file.size === 0) throw new Error('The file is empty.');
  if (file.size > FILE_BYTES_MAX) throw new Error('The file is larger than 10 MB.');
  const bytes = await file.arrayBuffer();
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('The file is not UTF-8 text: save it as CSV UTF-8.');
  }
  return previewOfText(text);
}

function previewOfText(text: string): ContactPreview {
  const records = recordsIn(text, NUMBER_COLUMN);
  const columns = (records.next().value ?? []).map((cell) => cell.trim().toLowerCase());
  while (columns.at(-1) === '') columns.pop();
  const check = new ContactCheck(columns);
  let number = 1;
  for (const cells of records) {
    number += 1;
    if (number > ROWS_MAX + 1) {
      check.report({ text: `The file has more than ${ROWS_MAX} rows` });
      break;
    }
    const isBlank = cells.length === 1 && cells[0]?.trim() === '';
    if (!isBlank) check.row({ number, cells });
  }
  return check.end();
}

class ContactCheck {
  readonly #found: ContactPreview;
  readonly #numberAt: number;
  readonly #rowsByNumber = new Map<string, number>();

  constructor(columns: string[]) {
    this.#found = { columns, rows: [], contacts: 0, faults: [], furtherFaults: 0 };
    this.#numberAt = columns.indexOf(NUMBER_COLUMN);
    for (const text of headerFaults(columns)) this.report({ row: 1, text });
  }

  report(fault: ContactFault): void {
    if (this.#found.faults.length < FAULTS_MAX) this.#found.faults.push(fault);
    else this.#found.furtherFaults += 1;
  }

  row(row: ContactRow): void {
    const { rows, columns } = this.#found;
    if (rows.length < ROWS_SHOWN) rows.push(row);
    const { number, cells } = row;
    if (cells.slice(columns.length).some((cell) => cell.trim() !== ''))
      this.report({ row: number, text: 'More values than columns' });
    const telephone = cells[this.#numberAt]?.trim() ?? '';
    if (telephone === '') return;
    this.#found.contacts += 1;
    this.#checkNumber(telephone, number);
  }

  end(): ContactPreview {
    if (this.#found.rows.length === 0)
      this.report({ text: 'The file needs a header row and at least one more' });
    return this.#found;
  }

  #checkNumber(telephone: string, row: number): void {
    const at = { row, column: NUMBER_COLUMN };
    if (!NUMBER.test(telephone)) {
      const text = `“${shortened(telephone)}” must be a number with + and the country code`;
      this.report({ ...at, text });
    }
    const digits = telephone.replaceAll(/\D/g, '');
    const earlier = this.#rowsByNumber.get(digits);
    if (earlier === undefined) this.#rowsByNumber.set(digits, row);
    else this.report({ ...at, text: `The same number as in row ${earlier}` });
  }
}

function headerFaults(columns: readonly string[]): string[] {
  const faults: string[] = [];
  if (!columns.includes(NUMBER_COLUMN)) faults.push(`The column ${NUMBER_COLUMN} is missing`);
  for (const [at, name] of columns.entries()) {
    if (name === '') faults.push(`Column ${at + 1} has no name`);
    else if (columns.indexOf(name) !== at) faults.push(`Two columns have the name “${name}”`);
  }
  return faults;
}

function shortened(text: string): string {
  return text.length > 30 ? `${text.slice(0, 30)}…` : text;
}
