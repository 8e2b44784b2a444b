// `npm run soak`: the client of each protocol against its strict fake for thousands of turns, with faults by chance. Prints
// a table; exit code 1 where a rule was broken.

import type { Ledger } from './ledger.ts';
import { helpText, readCommand, type SoakCommand } from './soak-options.ts';
import { runSoak, type SoakResult } from './soak-run.ts';

const HEAD = [
  ...['protocol', 'turns', 'calls', 'faults', 'kinds', 'first', 'p50 ms', 'p99 ms', 'counted'],
  ...['billed', 'unit', 'heap MB', 'broken', 's'],
];

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(helpText());
else await main(read());

function read(): SoakCommand {
  try {
    return readCommand(args);
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${helpText()}`);
    process.exit(2);
  }
}

async function main({ protocols, turns, minutes, seed }: SoakCommand): Promise<void> {
  const until = performance.now() + minutes * 60_000;
  const isOver = (): boolean => performance.now() >= until;
  const results: SoakResult[] = [];
  for (const protocol of protocols) {
    if (isOver()) break;
    const started = performance.now();
    const onProgress = ({ turns: done, faultCount, breachCount }: Ledger): void => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(0);
      const line = `${done} turns, ${faultCount} faults, ${breachCount} rules broken, ${seconds} s`;
      console.log(`${protocol.name}: ${line}`);
    };
    const result = await runSoak(protocol, { turns, seed, isOver, onProgress });
    results.push(result);
    for (const breach of result.ledger.breaches) console.log(`${protocol.name}: BROKEN ${breach}`);
  }
  printTable(results);
  const missing = protocols.length - results.length;
  if (missing > 0) console.log(`${missing} protocols were not begun: the time was over.`);
  if (results.some(({ ledger }) => ledger.breachCount > 0)) process.exitCode = 1;
}

function printTable(results: readonly SoakResult[]): void {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const rows = results.map(({ name, ledger, bill, heap, seconds }) => [
    ...[name, ledger.turns, ledger.calls, ledger.faultCount, ledger.faults.size],
    `${((100 * ledger.turnsOfFirst) / Math.max(1, ledger.turns)).toFixed(0)} %`,
    ...[ledger.waitAt(0.5), ledger.waitAt(0.99)].map((ms) => ms.toFixed(0)),
    ...[bill.counted, bill.billed].map((amount) => amount.toFixed(0)),
    ...[bill.unit, heap ? `${megabytes(heap.first)} ${megabytes(heap.last)}` : '-'],
    ...[ledger.breachCount, seconds.toFixed(0)],
  ]);
  const table = [HEAD, ...rows].map((row) => row.map(String));
  const widths = HEAD.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)));
  for (const row of table)
    console.log(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '));
}
