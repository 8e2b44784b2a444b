// The results of the cases for people, and for programs.

import { machine } from '../bench/machine.ts';
import type { CaseResult } from './case-run.ts';
import type { Finding } from './findings.ts';

const MARKS = { held: 'held', broken: 'BROKEN', skipped: 'skipped' } as const;
const VALUE_COLUMN = 58;
/** A thrown text in a line of the table. */
const REASON_CHARACTERS_MAX = 200;

export function textOf(results: readonly CaseResult[]): string {
  const lines = results.flatMap((result) => [headOf(result), ...result.findings.map(lineOf), '']);
  const count = (outcome: CaseResult['outcome']): number =>
    results.filter((each) => each.outcome === outcome).length;
  const skipped = count('skipped');
  return [
    ...lines,
    `${count('held')} held, ${count('broken')} broken${skipped > 0 ? `, ${skipped} skipped` : ''}`,
  ].join('\n');
}

export function headOf({ name, title, outcome, reason, seconds }: CaseResult): string {
  const head = `${MARKS[outcome].padEnd(8)}${name.padEnd(22)}${title} (${seconds} s)`;
  return reason === undefined ? head : `${head}\n        ${reason.slice(0, REASON_CHARACTERS_MAX)}`;
}

function lineOf({ what, value, wanted, isHeld }: Finding): string {
  const criterion = wanted === undefined ? '' : `  ${isHeld ? 'as wanted' : 'WANTED'}: ${wanted}`;
  return `        ${what.padEnd(VALUE_COLUMN)}${value}${criterion}`;
}

export function reportOf(results: readonly CaseResult[]): Record<string, unknown> {
  return { at: new Date().toISOString(), machine: machine(), results };
}
