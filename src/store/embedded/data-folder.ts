// The data folder at the start: created if it is missing, and written to once, so that a full or read-only disk is
// reported before anything else starts.

import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';

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
