// What the kernel reports of a process and of those that it has started: CPU time, memory, descriptors; and
// of the whole machine, as somebody else's work spoils a measurement. Linux only.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Clock ticks a second in /proc (sysconf(_SC_CLK_TCK) on Linux). */
const TICKS_PER_SECOND = 100;
const PAGE_KB = 4;

export interface ProcessFigures {
  cpuMs: number;
  rssKb: number;
  /** Everything that is open; an embedded database keeps files of its tables open. */
  descriptors: number;
  /** Those of them that are sockets: what calls would leave behind. */
  sockets: number;
}

/** The sum over `pid` and all below it; those that end meanwhile are left out. */
export function processFigures(pid: number): ProcessFigures {
  const sum: ProcessFigures = { cpuMs: 0, rssKb: 0, descriptors: 0, sockets: 0 };
  for (const each of familyOf(pid)) {
    try {
      const fields = statOf(each);
      sum.cpuMs += msOf(Number(fields[11]) + Number(fields[12]));
      sum.rssKb += Number(readFileSync(`/proc/${each}/statm`, 'utf8').split(' ')[1]) * PAGE_KB;
      const targets = descriptorsOf(each);
      sum.descriptors += targets.length;
      sum.sockets += targets.filter((target) => target.startsWith('socket:')).length;
    } catch {
      // It has ended between two reads.
    }
  }
  return sum;
}

/** CPU time that all cores have spent at work, or were not given by the machine below. */
export function machineBusyMs(): number {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  // cpu user nice system idle iowait irq softirq steal
  const [, user, nice, system, , , irq, softirq, steal] = line.split(/ +/).map(Number);
  return msOf(
    [user, nice, system, irq, softirq, steal].reduce((sum = 0, each = 0) => sum + each) ?? 0,
  );
}

/** All threads of the process and of those below it. */
export function pinFamily(pid: number, cores: string): void {
  for (const each of familyOf(pid)) pin(each, cores);
}

/** The cores, as `pin` takes them, that this process may use; undefined where there is no `taskset`. */
export function ownCores(): string | undefined {
  const said = spawnSync('taskset', ['-p', '-c', String(process.pid)], { encoding: 'utf8' });
  // Without the program there is no text at all, whatever the type says.
  if (said.error !== undefined) return undefined;
  return said.stdout.split(': ')[1]?.trim();
}

/** The child of `pid` with the word among its arguments; undefined if there is none. */
export function childPid(pid: number, word: string): number | undefined {
  return familyOf(pid).find((each) => {
    try {
      const args = readFileSync(`/proc/${each}/cmdline`, 'utf8').split('\0');
      return Number(statOf(each)[1]) === pid && args.includes(word);
    } catch {
      return false; // It has ended.
    }
  });
}

/** All threads of the process. */
export function pin(pid: number, cores: string): void {
  spawnSync('taskset', ['-a', '-p', '-c', cores, String(pid)]);
}

/** What each open descriptor of the process points to. */
function descriptorsOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      return []; // It was closed meanwhile.
    }
  });
}

function msOf(ticks: number): number {
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

/** The process and all below it. */
export function familyOf(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const child = Number(name);
    if (!Number.isInteger(child)) continue;
    try {
      const parent = Number(statOf(child)[1]);
      children.set(parent, [...(children.get(parent) ?? []), child]);
    } catch {
      // It has ended.
    }
  }
  const family = [pid];
  for (const each of family) family.push(...(children.get(each) ?? []));
  return family;
}

/** The fields behind the name, which may hold blanks: state, parent, ... */
function statOf(pid: number): string[] {
  return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
}
