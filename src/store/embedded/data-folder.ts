// The data folder at the start: created if it is missing, and written to once, so that a full or read-only disk is
// reported before anything else starts; and its lock for one process: two engines on one folder destroy it.

import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

/** Bytes of the test file: one page of the database. */
const PROBE_BYTES = 8_192;
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** Creates the folder and writes a test file. Throws DATA_FOLDER_FULL, DATA_FOLDER_UNWRITABLE. */
export function prepareDataFolder(folder: string, pid = process.pid): void {
  const probe = join(folder, `.probe-${pid}`);
  try {
    makeFolder(folder);
    writeProbe(probe);
  } catch (error) {
    throw folderError(folder, error);
  } finally {
    removeProbe(probe);
  }
}

/** Creates the folder, and those above it, for this user alone. Node's own recursive form never returns where the
 *  system refuses a folder with ENOENT, as below /proc (measured on Node 20.20.2). */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? error.code : undefined;
    if (reason === 'EEXIST') return;
    const above = dirname(folder);
    if (reason !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above);
    mkdirSync(folder, { mode: 0o700 });
  }
}

/** Takes all rights on the files in the folder from other users. */
export function closeToOthers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) closeToOthers(path);
    else if (entry.isFile() && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

function writeProbe(path: string): void {
  const file = openSync(path, 'w', 0o600);
  try {
    writeFileSync(file, Buffer.alloc(PROBE_BYTES, 1)); // All of it: a write to a nearly full disk may stop halfway.
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function removeProbe(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // A file that could not be written cannot be removed either: the first error is reported.
  }
}

function folderError(folder: string, error: unknown): GatewayError {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  if (FULL.has(reason)) return new GatewayError('DATA_FOLDER_FULL', { folder }, error);
  const user = userInfo().username;
  return new GatewayError('DATA_FOLDER_UNWRITABLE', { folder, reason, user }, error);
}

/** Longest wait for the engine of a gateway that was just killed, which takes a moment to close. */
const WAIT_MS_MAX = 3_000;
const WAIT_STEP_MS = 50;

/** On Linux the lock is an abstract socket, which the kernel frees with the process; elsewhere
 *  it is a file with a process id. Another container has other abstract sockets but the same
 *  folder: there the engine's own socket answers. Source:
 *  https://github.com/electric-sql/pglite/issues/1106. */
interface FolderLock {
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
