// The folder for temporary files of a test run: in memory, where the machine has enough of it. New databases flush a thousand
// files and every commit to the disk; that a kill loses nothing of it does not depend on the disk, as the kernel keeps it.

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, of any Linux. That of a container is small, and nothing in it may be run. */
const MEMORY = '/dev/shm';
const NAME = 'patchbay-tests-';
/** What a run holds at a time is a tenth of it; the rest is for its processes. */
const FREE_BYTES_MIN = 8 * 2 ** 30;
/** Where files are that outlive a run, for those who find TMPDIR changed. */
export const LASTING_FOLDER = 'TEST_LASTING_FOLDER';

/** Makes `TMPDIR` a new folder in memory, for this process and those that it starts; removed when it ends. Leaves a
 *  TMPDIR that was set, and all as it is where memory is short. */
export function useMemoryFolder(): void {
  if (process.env['TMPDIR'] !== undefined || !isSuitable()) return;
  removeLeftovers();
  const folder = join(MEMORY, `${NAME}${process.pid}`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o1777); // A PostgreSQL server runs as another user.
  process.env[LASTING_FOLDER] = tmpdir();
  process.env['TMPDIR'] = folder;
  process.once('exit', () => remove(folder));
}

function isSuitable(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const mounts = readFileSync('/proc/mounts', 'utf8');
    const memory = readFileSync('/proc/meminfo', 'utf8');
    return hasRoom({ mounts, memory, freeBytes: bavail * bsize });
  } catch {
    return false; // Not Linux, or no such file system.
  }
}

interface MemoryFacts {
  /** /proc/mounts */
  mounts: string;
  /** /proc/meminfo */
  memory: string;
  /** Space that is free in the file system. */
  freeBytes: number;
}

/** Whether the file system in memory may be written and run from, and it and the machine have enough of it. */
export function hasRoom({ mounts, memory, freeBytes }: MemoryFacts): boolean {
  const [, options = 'ro'] = /^\S+ \/dev\/shm tmpfs (\S+)/m.exec(mounts) ?? [];
  if (options.split(',').some((each) => each === 'ro' || each === 'noexec')) return false;
  const [, availableKb = '0'] = /^MemAvailable:\s+(\d+) kB/m.exec(memory) ?? [];
  return Math.min(freeBytes, Number(availableKb) * 1_024) >= FREE_BYTES_MIN;
}

/** Removes the folders of runs that were killed. */
function removeLeftovers(): void {
  for (const name of readdirSync(MEMORY)) {
    if (name.startsWith(NAME) && !isAlive(Number(name.slice(NAME.length)))) {
      remove(join(MEMORY, name));
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
