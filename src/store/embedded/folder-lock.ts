// Locks a data folder for one process: two engines on one folder destroy it. On Linux the lock is an abstract socket,
// which the kernel frees with the process; elsewhere it is a file with a process id. Another container has other
// abstract sockets but the same folder: there the engine's own socket answers. Source:
// https://github.com/electric-sql/pglite/issues/1106.

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

/** Longest wait for the engine of a gateway that was just killed, which takes a moment to close. */
const WAIT_MS_MAX = 3_000;
const WAIT_STEP_MS = 50;

export interface FolderLock {
  release(): void;
}

/** Locks the folder for this process. Throws STORE_LOCKED. */
export async function lockFolder(
  folder: string,
  socketPath: string,
  clock: Clock,
): Promise<FolderLock> {
  const give = clock.monotonicMs() + WAIT_MS_MAX;
  for (;;) {
    const lock =
      process.platform === 'linux' ? await lockBySocket(folder) : lockByFile(folder, process.pid);
    if (lock !== undefined) {
      if (!(await answers(socketPath))) return lock;
      lock.release();
    }
    if (clock.monotonicMs() >= give) throw new GatewayError('STORE_LOCKED', { folder });
    await new Promise<void>((resolve) => clock.after(WAIT_STEP_MS, resolve));
  }
}

/** Undefined if another process has the lock. */
function lockBySocket(folder: string): Promise<FolderLock | undefined> {
  const name = createHash('sha256').update(realpathSync(folder)).digest('hex');
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(`\0patchbay-${name}`, () => resolve({ release: () => server.close() }));
  });
}

/** Locks by a file. Undefined if another live process has the lock. */
export function lockByFile(folder: string, pid: number): FolderLock | undefined {
  const path = join(folder, 'lock');
  for (let tries = 1; tries <= 2; tries++) {
    try {
      writeFileSync(path, String(pid), { flag: 'wx', mode: 0o600 });
      return { release: () => rmSync(path, { force: true }) };
    } catch {
      // The file exists: its owner may be dead.
      if (isAlive(readOwner(path))) return undefined;
      rmSync(path, { force: true });
    }
  }
  return undefined;
}

function readOwner(path: string): number | undefined {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    return Number.isInteger(pid) && pid > 0 ? pid : undefined;
  } catch {
    return undefined; // Removed in the meantime.
  }
}

function isAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether an engine listens on the socket. */
function answers(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false)); // No such socket, or no listener.
  });
}
