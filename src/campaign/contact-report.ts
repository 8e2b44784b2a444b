// What a contact file has, as a campaign reads it: its columns, first rows, contacts and faults.

import { GatewayError } from '../errors/gateway-error.ts';
import { type ContactFault, ContactFaults, type ContactFileFaultCode } from './contact-faults.ts';
import { readRows, type SourceRules } from './contact-rows.ts';

/** First rows of a report: enough to see that the columns are the right ones. */
export const ROWS_SHOWN_MAX = 20;
/** Characters of a cell in a report. */
const CELL_CHARACTERS_SHOWN_MAX = 200;

export interface ContactReport {
  columns: string[];
  /** The first rows, with shortened cells. */
  rows: { row: number; cells: string[] }[];
  /** Rows that are not blank, without the header. */
  rowsTotal: number;
  contacts: number;
  /** The first faults. */
  faults: ContactFault[];
  faultsTotal: number;
  /** All faults in one text; undefined: the file has none. */
  problems: string | undefined;
}

/** Reads a file to its end, or to a fault after which it cannot be read on. Throws what `bytes` throws. */
export async function reportOf(
  bytes: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
  rules: SourceRules,
): Promise<ContactReport> {
  const found = new ContactFaults();
  const report = { columns: [] as string[], rows: [] as ContactReport['rows'], rowsTotal: 0 };
  let contacts = 0;
  let hasHeader = false;
  try {
    for await (const { row, cells, contact } of readRows(bytes, rules, found)) {
      if (!hasHeader) {
        hasHeader = true;
        report.columns = cells.map(shortened);
        continue;
      }
      report.rowsTotal += 1;
      if (contact !== undefined) contacts += 1;
      if (report.rows.length < ROWS_SHOWN_MAX) {
        report.rows.push({ row, cells: cells.map(shortened) });
      }
    }
  } catch (error) {
    noteEnd(found, error);
  }
  const { listed, total: faultsTotal, text: problems } = found;
  return { ...report, contacts, faults: [...listed], faultsTotal, problems };
}

/** Adds the fault that ended the reading. Throws what is not of the file. */
function noteEnd(faults: ContactFaults, error: unknown): void {
  const { fault, row, problems } = error instanceof GatewayError ? error.facts : {};
  if (typeof fault !== 'string' || typeof problems !== 'string') throw error;
  // `unreadable` sets them.
  faults.file(fault as ContactFileFaultCode, {
    row: typeof row === 'number' ? row : null,
    text: problems,
  });
}

function shortened(text: string): string {
  if (text.length <= CELL_CHARACTERS_SHOWN_MAX) return text;
  return `${text.slice(0, CELL_CHARACTERS_SHOWN_MAX)}…`;
}
