// `npm run bench:compare [-- BEFORE AFTER]`: what has become better and worse between two results; without
// files, between the newest result in bench/results and the one before it of the same kind. The exit code is
// 1 if something is worse.

import { readdirSync, readFileSync } from 'node:fs';
import {
  type Change,
  compareReports,
  machineDifferences,
  type Report,
  readReport,
} from './comparison.ts';

const FOLDER = 'bench/results';
/** Figures of a machine that others use as well vary by about this much. */
const NOISE_PERCENT = 10;
const MARKS = { better: '+', worse: '!', same: ' ', unjudged: ' ' };

const HELP = `npm run bench:compare [-- BEFORE AFTER]
What has become better (+) and worse (!) between two results of bench or load, by ${NOISE_PERCENT} % or more; without
files, between the newest in ${FOLDER} and the one before it of the same kind. Exit code 1: something is worse.`;

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(HELP);
else compare(args);

function compare(files: readonly string[]): void {
  const pair = files.length > 0 ? given(files) : newest();
  if (pair !== undefined) report(pair.before, pair.after);
  else console.log(`There are no two results of one kind in ${FOLDER}.`);
}

function report(before: Report, after: Report): void {
  console.log(`${before.at} (before), ${after.at} (after)`);
  for (const difference of machineDifferences(before, after)) {
    console.log(`Not the same machine: ${difference}`);
  }
  const changes = compareReports(before, after, NOISE_PERCENT);
  for (const change of changes) print(change);
  const count = (verdict: Change['verdict']): number =>
    changes.filter((each) => each.verdict === verdict).length;
  console.log(`${count('better')} better, ${count('worse')} worse, ${count('same')} the same`);
  if (count('worse') > 0) process.exitCode = 1;
}

function print({ name, before, after, percent, verdict }: Change): void {
  const sign = percent > 0 ? '+' : '';
  const change = Number.isFinite(percent) ? `${sign}${percent.toFixed(0)} %` : 'from 0';
  console.log(
    `${MARKS[verdict]} ${shown(before).padStart(12)} ${shown(after).padStart(12)} ${change.padStart(8)}  ${name}`,
  );
}

function shown(value: number): string {
  return String(Math.round(value * 1_000) / 1_000);
}

function given(files: readonly string[]): { before: Report; after: Report } {
  const [before, after] = files.map((file) => {
    const read = readReport(JSON.parse(readFileSync(file, 'utf8')));
    if (read === undefined) throw new Error(`${file} is no result of bench or load`);
    return read;
  });
  if (before === undefined || after === undefined) throw new Error('two files are needed');
  return { before, after };
}

function newest(): { before: Report; after: Report } | undefined {
  const reports = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => readReport(JSON.parse(readFileSync(`${FOLDER}/${name}`, 'utf8'))))
    .filter((read) => read !== undefined)
    .sort((a, b) => a.at.localeCompare(b.at));
  const after = reports.at(-1);
  const before = reports.findLast((each) => each !== after && each.kind === after?.kind);
  return before === undefined || after === undefined ? undefined : { before, after };
}
