// `npm run cluster`: several gateways with real engines, of which one after the other is lost. Prints what held and what
// did not; the exit code is 1 if something did not.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type CaseResult, runCase } from './case-run.ts';
import { cases } from './cases/cases.ts';
import type { ClusterCase } from './cluster-case.ts';
import { missing } from './needs.ts';
import { headOf, reportOf, textOf } from './report.ts';

const CASE_MS_MAX = 10 * 60_000;

const HELP = `npm run cluster [-- --option value ...]
Several gateways on one PostgreSQL, with Redis, HAProxy and, where it is installed, an S3, a PgBouncer and network
namespaces. Each case starts its own, loses one of them, and judges what became of the calls.
  --only a,b        these cases: ${cases.map(({ name }) => name).join(', ')}
  --json file       also writes all figures to a file; - prints them alone
  --away-seconds n  how long the S3 is away; default: 30
  --contacts n      of the campaign; default: 200. npm run trial -- --nodes 3 has 2,000
  --build folder    built checkout whose gateways run; default: this one
  --next folder     built checkout of the next version; default: the same once more`;

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      json: { type: 'string' },
      'away-seconds': { type: 'string', default: '30' },
      contacts: { type: 'string', default: '200' },
      build: { type: 'string' },
      next: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return;
  }
  const isForPrograms = values.json === '-';
  const say = (line: string): void => {
    if (!isForPrograms) console.log(line);
  };
  const chosen = chosenCases(values.only);
  const ending = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());
  const results: CaseResult[] = [];
  for (const each of chosen) {
    if (ending.signal.aborted) break;
    say(`... ${each.name}: ${each.title}`);
    const result = await resultOf(each, {
      limitMs: CASE_MS_MAX + Number(values['away-seconds']) * 1_000,
      signal: ending.signal,
      awaySeconds: Number(values['away-seconds']),
      contacts: Number(values.contacts),
      build: values.build,
      next: values.next,
      say: (line) => say(`    ${line}`),
    });
    say(headOf(result));
    results.push(result);
    // After each: what there is by now outlives a run that is killed.
    if (values.json !== undefined && !isForPrograms)
      writeFileSync(values.json, textOfReport(results));
  }
  say(`\n${textOf(results)}`);
  if (isForPrograms) process.stdout.write(textOfReport(results));
  const isHeld = results.every(({ outcome }) => outcome !== 'broken') && !ending.signal.aborted;
  process.exitCode = isHeld ? 0 : 1;
}

function textOfReport(results: readonly CaseResult[]): string {
  return `${JSON.stringify(reportOf(results), null, 2)}\n`;
}

async function resultOf(
  of: ClusterCase,
  options: Parameters<typeof runCase>[1],
): Promise<CaseResult> {
  const reason = missing(of.needs);
  if (reason === undefined) return await runCase(of, options);
  return { name: of.name, title: of.title, outcome: 'skipped', reason, findings: [], seconds: 0 };
}

function chosenCases(only: string | undefined): readonly ClusterCase[] {
  if (only === undefined) return cases;
  const names = only.split(',');
  const unknown = names.filter((name) => !cases.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`no such case: ${unknown.join(', ')}`);
  return cases.filter(({ name }) => names.includes(name));
}
