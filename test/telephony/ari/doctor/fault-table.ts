// The table of asterisk §7.1: faults of a PBX, and what the doctor says of each. Tests read it: that of the simulator, and
// the run against a real PBX.

import { readFileSync } from 'node:fs';
import type { Finding } from '../../../../src/telephony/provider/pbx.ts';

export interface FaultRow {
  fault: string;
  /** The title of the finding. */
  line: string;
  /** The message; `…` stands for any words. */
  says: string;
  /** With parts of the advice in backticks. */
  remedy: string;
  /** Whether the run against a real PBX plays it. */
  isReal: boolean;
}

export type Found = Pick<Finding, 'title' | 'verdict' | 'message' | 'advice'>;
/** What other names are called than in the table. */
export type Names = Readonly<Record<string, string>>;

const HEADING = '### 7.1 Faults';

export function faultRows(): FaultRow[] {
  const section = readFileSync('docs/asterisk.md', 'utf8').split(HEADING)[1] ?? '';
  const [table = ''] = section.split('\n## ');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((text) => {
      const cells = text.slice(2, -2).split(' | ');
      const [fault = '', line = '', says = '', remedy = '', real = ''] = cells;
      return { fault, line, says, remedy, isReal: real === 'yes' };
    });
}

/** How the findings differ from the row; undefined: not at all. */
export function differenceFrom(
  row: FaultRow,
  findings: Iterable<Found>,
  names: Names = {},
): string | undefined {
  const all = [...findings];
  const line = named(row.line, names);
  const found = all.find(({ title }) => title === line);
  if (found === undefined || !/^(fail|warn)$/.test(found.verdict)) {
    const seen = all.map(({ title, verdict, message }) => `${title}: ${verdict} ${message}`);
    return `"${line}" finds no fault; ${seen.join('; ')}`;
  }
  const words = named(row.says, names)
    .split('…')
    .map((part) => escaped(part.trim()));
  if (!new RegExp(words.join('.*')).test(found.message)) {
    return `it says "${found.message}"`;
  }
  const remedies = [...row.remedy.matchAll(/`([^`]+)`/g)].map(([, part = '']) =>
    named(part, names),
  );
  if (remedies.length === 0) return 'the table has no remedy';
  const missing = remedies.filter((part) => found.advice?.includes(part) !== true);
  return missing.length === 0
    ? undefined
    : `the advice lacks "${missing.join('", "')}": ${found.advice}`;
}

function named(text: string, names: Names): string {
  const known = Object.keys(names).sort((a, b) => b.length - a.length);
  if (known.length === 0) return text;
  const pattern = `(?<![\\w.-])(?:${known.map(escaped).join('|')})(?![\\w-])`;
  return text.replaceAll(new RegExp(pattern, 'g'), (name) => names[name] ?? name);
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
