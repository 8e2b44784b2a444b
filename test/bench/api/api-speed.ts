// How fast the API answers at a fixed rate (open loop), with many stored runs: lists, details, progress, starts, and
// the dials of a campaign. Rounds take turns, so that other work on the machine does not hit one kind of request alone.
// Run: npx tsx test/bench/api/api-speed.ts --engine server --runs 100000 --events 0 --rounds 3
// With --keep FOLDER --rounds 0 it only stores, and measures what is stored there the next time.

import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { parseJson } from '../../../src/std/json.ts';
import type { EngineName } from '../../store/databases.ts';
import { machine } from '../machine.ts';
import { startApiGateway } from './api-gateway.ts';
import { type LoadFigures, loadApiOpenLoop } from './http-load.ts';
import { runRequests } from './run-requests.ts';

const CONTACTS = 100_000;
const SECONDS = 10;
/** Rate of reads that scan all rows; others are served beside them. */
const LONG_READS = { perSecond: 2, seconds: SECONDS };
const LONG = ['progress', 'byNumber', 'newestOfOrganization'];
/** Each leaves an open call behind. */
const STARTS = { perSecond: 100, seconds: SECONDS };

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'server' },
    runs: { type: 'string', default: '100000' },
    /** Number of events of each run. */
    events: { type: 'string', default: '0' },
    rounds: { type: 'string', default: '3' },
    /** Lists and details per second. */
    rate: { type: 'string', default: '50' },
    /** A folder for the database, which is filled once: storing millions takes longer than measuring. */
    keep: { type: 'string' },
    /** Names of requests; default: all. */
    only: { type: 'string' },
  },
});

interface Round extends LoadFigures {
  what: string;
  load: number;
}

console.table(machine());
const engine: EngineName = values.engine === 'embedded' ? 'embedded' : 'server';
const sinceMs = performance.now();
const gateway = await startApiGateway(
  engine,
  { runs: Number(values.runs), events: Number(values.events), contacts: CONTACTS },
  values.keep,
);
console.info(`stored after ${Math.round((performance.now() - sinceMs) / 1_000)} s`);
try {
  const { start, ...reads } = runRequests(gateway);
  const rounds: Round[] = [];
  const names = values.only?.split(',');
  let starts = 0;
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [what, request] of Object.entries({ ...reads, start })) {
      if (names?.includes(what) === false) continue;
      const from = what === 'start' ? starts : 0;
      const figures = await loadApiOpenLoop(
        gateway.server,
        what === 'start'
          ? STARTS
          : LONG.includes(what)
            ? LONG_READS
            : { perSecond: Number(values.rate), seconds: SECONDS },
        (index) => request(from + index),
      );
      if (what === 'start') starts += 1_100;
      rounds.push({ what, ...figures, load: loadavg()[0] ?? 0 });
    }
  }
  report(rounds);
} finally {
  await gateway.stop();
}

/** The quietest round of each kind, and the median of all. */
function report(rounds: readonly Round[]): void {
  const kinds = [...new Set(rounds.map(({ what }) => what))];
  console.table(
    kinds.map((what) => {
      const all = rounds.filter((round) => round.what === what);
      const byP99 = all.toSorted((one, other) => one.p99Ms - other.p99Ms);
      const best = byP99[0];
      return {
        what,
        'per second': Math.round(best?.requestsPerSecond ?? 0),
        p50: tenth(best?.p50Ms),
        p99: tenth(best?.p99Ms),
        'load average': tenth(best?.load),
        'p99 of all rounds': byP99.map(({ p99Ms }) => tenth(p99Ms)).join(' '),
      };
    }),
  );
  const slow = slowStatements();
  if (slow.length > 0) console.table(slow);
}

/** Slow statements in the embedded engine's log, the slowest of each first. */
function slowStatements(): { ms: number; times: number; traffic: string; sql: string }[] {
  const found = new Map<string, { ms: number; times: number; traffic: string; sql: string }>();
  for (const line of readFileSync(gateway.logFile, 'utf8').split('\n')) {
    const entry = parseJson(line);
    if (entry === null || typeof entry !== 'object' || !('sql' in entry)) continue;
    const { ms, sql, traffic } = entry as { ms: number; sql: string; traffic: string };
    const known = found.get(sql);
    found.set(sql, {
      ms: Math.round(Math.max(ms, known?.ms ?? 0)),
      times: 1 + (known?.times ?? 0),
      traffic,
      sql: sql.replaceAll(/\s+/g, ' ').slice(0, 120),
    });
  }
  return [...found.values()].toSorted((one, other) => other.ms - one.ms);
}

function tenth(ms = Number.NaN): number {
  return Math.round(ms * 10) / 10;
}
