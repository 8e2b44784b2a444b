// What a gateway without calls costs: milliseconds from the start of a build to a healthy API, and the memory of each of
// its processes as a share of what it shares with others (PSS). Linux.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gateway } from '../demo/gateway.ts';
import { freePort } from '../fakes/free-port.ts';

/** After the start, for what is loaded late. */
const SETTLE_MS = 10_000;

export type Role = 'supervisor' | 'api' | 'worker' | 'database';

export interface IdleFigures {
  /** With a database that is there. */
  startMs: number;
  pssMb: { role: Role; pssMb: number }[];
}

/** `checkout`: whose build; default: this one. */
export async function idleFigures(checkout?: string): Promise<IdleFigures> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-idle-'));
  const options = {
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    ...(checkout !== undefined && { checkout }),
  };
  try {
    await (await Gateway.start(options)).stop(); // Makes the database.
    const sinceMs = performance.now();
    const gateway = await Gateway.start(options);
    const startMs = Math.round(performance.now() - sinceMs);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const pid = gateway.pid ?? 0;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    const pssMb = [pid, ...children.map(Number)].map((each) => ({
      role: roleOf(each),
      pssMb: pssMbOf(each),
    }));
    await gateway.stop();
    return { startMs, pssMb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function roleOf(pid: number): Role {
  const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  if (words.includes('api')) return 'api';
  if (words.includes('worker')) return 'worker';
  return words.includes('serve') ? 'database' : 'supervisor';
}

function pssMbOf(pid: number): number {
  const kb = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Math.round(Number(kb) / 1_024);
}
