// What a gateway without calls costs: milliseconds from the start of the build to a healthy API, and the memory of each
// of its processes as a share of what it shares with others (PSS). Linux. Run: npx tsx test/bench/idle-gateway.ts

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';

/** MB of PSS that each process may have, and ms of the start, with a database that is there. */
const GOALS = { supervisor: 50, api: 120, worker: 200, database: 220, startMs: 3_500 };
/** After the start, for what is loaded late. */
const SETTLE_MS = 10_000;

const folder = mkdtempSync(join(tmpdir(), 'patchbay-idle-'));
const options = {
  dataFolder: join(folder, 'data'),
  logFile: join(folder, 'gateway.log'),
  port: await freePort(),
};
try {
  await (await Gateway.start(options)).stop(); // Makes the database.
  const sinceMs = performance.now();
  const gateway = await Gateway.start(options);
  const startMs = Math.round(performance.now() - sinceMs);
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const pid = gateway.pid ?? 0;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const rows = [pid, ...children.map(Number)].map((each) => ({
    process: roleOf(each),
    pssMb: pssMbOf(each),
    goal: GOALS[roleOf(each)],
  }));
  console.table(rows);
  console.info(`start: ${startMs} ms, goal ${GOALS.startMs} ms`);
  await gateway.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function roleOf(pid: number): 'supervisor' | 'api' | 'worker' | 'database' {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  if (words.includes('api')) return 'api';
  if (words.includes('worker')) return 'worker';
  return words.includes('serve') ? 'database' : 'supervisor';
}

function pssMbOf(pid: number): number {
  const kb = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1_024);
}
