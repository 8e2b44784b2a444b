// Parses a contact file's bytes into records of cells: UTF-8 text, separated by commas, semicolons or tabs, with quoted
// cells over several lines and any line ends. contact-rows.ts interprets the cells. Source: RFC 4180; contract §9.3.

import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { scheduler } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';
import { GatewayError } from '../errors/gateway-error.ts';
import type { ContactFileFaultCode } from './contact-faults.ts';

/** Largest file, the upload limit (contract §6.5). */
export const SOURCE_BYTES_MAX = 10_485_760;
/** Records at most. 900,000 of the shortest numbers fit into the bytes; no campaign has that many contacts. */
const RECORDS_MAX = 200_000;
/** Columns at most; a file with more is not a contact list. */
const COLUMNS_MAX = 200;
/** Characters of a cell; a long greeting has 2,000. */
const CELL_CHARACTERS_MAX = 10_000;
/** Bytes of all cells of a row together: with the columns' names they are the context of a call (model/json-limits). */
const RECORD_BYTES_MAX = 60_000;
/** Characters of a record: an unclosed quote ends here, not at the end of the file. */
const RECORD_CHARACTERS_MAX = 100_000;
/** Bytes between two yields to the event loop: a few milliseconds of work at most, so that calls keep their 20 ms. */
const PIECE_BYTES = 1_024;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Delimiters of cells. Spreadsheets in many countries write semicolons. */
const DELIMITERS = [',', ';', '\t'] as const;
/** A first line that names the delimiter and is not data, as Excel reads and writes it. */
const SEPARATOR_LINE = /^\ufeff?"?sep=([^"\r\n])"?\s*$/i;
/** Marks that cannot be seen, and space, at the ends of a cell. */
const AROUND = /^[\p{Cf}\s]+|[\p{Cf}\s]+$/gu;

/** A cell without space and unseen marks (directions of writing, zero-width characters) at its ends. */
export function trimmed(cell: string): string {
  return cell.replace(AROUND, '');
}

/** Records in order, the first with number 1; blank lines are records of one empty cell. A line `sep=;` before them is
 *  left out. The delimiter is the one with which the first line has the column `column`. Throws CAMPAIGN_SOURCE_INVALID
 *  for bytes that are no such file, and what `bytes` throws. */
export async function* readRecords(
  bytes: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  column: string,
): AsyncGenerator<{ number: number; cells: string[] }> {
  const { head, rest, separator } = await behindSeparatorLine(checkedPieces(bytes));
  const parser = parse({
    bom: true,
    delimiter: delimiterOf(head, column, separator),
    recordDelimiter: ['\r\n', '\n', '\r'],
    relaxColumnCount: true,
    relaxQuotes: true,
    maxRecordSize: RECORD_CHARACTERS_MAX,
  });
  // The parser fails with the same error, which is handled there.
  pipeline(Readable.from(joined(head, rest), { objectMode: false }), parser).catch(() => undefined);
  let number = 0;
  try {
    for await (const cells of parser as AsyncIterable<string[]>) {
      number += 1;
      checkRecord(number, cells);
      yield { number, cells };
    }
  } catch (error) {
    throw error instanceof CsvError ? notCsv(number + 1, error) : error;
  }
}

interface Beginning {
  /** The first line, and what came in one piece with its end. */
  head: Buffer;
  rest: AsyncGenerator<Uint8Array>;
}

async function behindSeparatorLine(
  pieces: AsyncGenerator<Uint8Array>,
): Promise<Beginning & { separator: string | undefined }> {
  const { head, rest } = await firstLine(Buffer.alloc(0), pieces);
  const end = lineEnd(head);
  const separator = SEPARATOR_LINE.exec(head.toString('utf8', 0, end))?.[1];
  if (separator === undefined) return { head, rest, separator };
  const isPair = head[end] === CARRIAGE_RETURN && head[end + 1] === LINE_FEED;
  return { ...(await firstLine(head.subarray(end + (isPair ? 2 : 1)), rest)), separator };
}

/** `begun` and the pieces up to the first line's end and one byte more, which may belong to it; and the others. */
async function firstLine(begun: Buffer, pieces: AsyncGenerator<Uint8Array>): Promise<Beginning> {
  const first: Uint8Array[] = [begun];
  let bytes = begun.byteLength;
  let isComplete = lineEnd(begun) < bytes - 1;
  while (!isComplete && bytes <= RECORD_BYTES_MAX) {
    const { value, done } = await pieces.next();
    if (done === true) break;
    const hadEnd = first.some((piece) => lineEnd(piece) < piece.byteLength);
    isComplete = hadEnd || lineEnd(value) < value.byteLength - 1;
    first.push(value);
    bytes += value.byteLength;
  }
  return { head: Buffer.concat(first), rest: pieces };
}

/** Index of the first line break, else the length. */
function lineEnd(bytes: Uint8Array): number {
  const at = bytes.findIndex((byte) => byte === LINE_FEED || byte === CARRIAGE_RETURN);
  return at === -1 ? bytes.byteLength : at;
}

async function* joined(head: Buffer, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head;
  yield* rest;
}

/** The delimiter that gives the column; else a comma: the header's fault then names the missing column. */
function delimiterOf(head: Buffer, column: string, separator: string | undefined): string {
  const [line = ''] = head.toString('utf8').split(/[\r\n]/);
  const namesBy = (delimiter: string): string[] =>
    line.split(delimiter).map((cell) => trimmed(cell.replaceAll('"', '')).toLowerCase());
  const known = separator === undefined ? DELIMITERS : [separator, ...DELIMITERS];
  return known.find((delimiter) => namesBy(delimiter).includes(column)) ?? separator ?? ',';
}

/** The same bytes in small pieces. Throws CAMPAIGN_SOURCE_INVALID if they are too many or not text. */
async function* checkedPieces(
  bytes: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let size = 0;
  for await (const chunk of bytes) {
    const piece = Buffer.from(chunk);
    size += piece.byteLength;
    if (size > SOURCE_BYTES_MAX) {
      throw unreadable('FILE_OVERSIZED', `CSV file is larger than ${SOURCE_BYTES_MAX} bytes`);
    }
    checkText(() => decoder.decode(piece, { stream: true }));
    if (piece.includes(0)) {
      throw unreadable('FILE_NOT_TEXT', 'CSV file holds NUL bytes; save it as CSV UTF-8');
    }
    for (let at = 0; at < piece.byteLength; at += PIECE_BYTES) {
      yield piece.subarray(at, at + PIECE_BYTES);
      await scheduler.yield();
    }
  }
  checkText(() => decoder.decode());
}

function checkText(decode: () => string): void {
  try {
    decode();
  } catch (error) {
    throw unreadable('FILE_NOT_TEXT', 'CSV file is not UTF-8 text; save it as CSV UTF-8', {
      cause: error,
    });
  }
}

function checkRecord(number: number, cells: readonly string[]): void {
  const at = { row: number };
  if (number > RECORDS_MAX + 1) {
    throw unreadable('ROWS_EXCEEDED', `CSV file has more than ${RECORDS_MAX} rows`, at);
  }
  if (cells.length > COLUMNS_MAX) {
    const text = `CSV file has more than ${COLUMNS_MAX} columns in row ${number}`;
    throw unreadable('COLUMNS_EXCEEDED', text, at);
  }
  const bytes = cells.reduce((sum, cell) => sum + Buffer.byteLength(cell), 0);
  if (bytes > RECORD_BYTES_MAX) {
    const text = `Row ${number} has more than ${RECORD_BYTES_MAX} bytes`;
    throw unreadable('ROW_OVERSIZED', text, at);
  }
  if (cells.some((cell) => cell.length > CELL_CHARACTERS_MAX)) {
    const text = `A cell in row ${number} has more than ${CELL_CHARACTERS_MAX} characters`;
    throw unreadable('CELL_OVERSIZED', text, at);
  }
}

function notCsv(row: number, { code }: CsvError): GatewayError {
  const isQuote = code === 'CSV_QUOTE_NOT_CLOSED' || code === 'CSV_MAX_RECORD_SIZE';
  const reason = isQuote ? 'a quote is not closed or the row is too long' : 'it is not valid CSV';
  const text = `CSV file cannot be read from row ${row} on: ${reason}`;
  return unreadable('CSV_UNREADABLE', text, { row });
}

/** The error of a fault after which the file is not read on; `row` is where it was met. */
export function unreadable(
  fault: ContactFileFaultCode,
  problems: string,
  { row, cause }: { row?: number; cause?: unknown } = {},
): GatewayError {
  const facts = { problems, fault, ...(row === undefined ? {} : { row }) };
  return new GatewayError('CAMPAIGN_SOURCE_INVALID', facts, cause);
}

export function invalid(problems: string, cause?: unknown): GatewayError {
  return new GatewayError('CAMPAIGN_SOURCE_INVALID', { problems }, cause);
}
