// Files on the local disk, under one folder. Keys are names with slashes; each is checked before it becomes a path.
// Files appear completely or not at all.

import { constants, createReadStream, type Stats } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { DiskRoom } from './disk-room.ts';
import type { FileStatus, FileWriter, Spool } from './file-store.ts';
import { diskError, LocalFileWriter } from './file-writer.ts';
import { entriesBelow, type FolderEntry } from './folder-entries.ts';
import { WriteThread } from './write-queue.ts';

/** Folder of files that are being stored. No key begins with a dot, so none leads here. */
const UNFINISHED = '.unfinished';
/** Folder of files that the outbox must not send (outbox.ts). */
const SET_ASIDE = '.set-aside';
/** Age from which an incomplete file is that of a killed process: no upload takes that long. */
const UNFINISHED_MS_MAX = 3_600_000;
/** Bytes of an upload that are gathered for one write: each write is a round trip to a thread, during which the event
 *  loop's core is busy. Pieces may be small. */
const GATHERED_BYTES = 262_144;
const GATHERED_PIECES_MAX = 16;
const KEY_CHARACTERS_MAX = 300;
const KEY_PARTS_MAX = 8;
/** One part of a key. It begins with a letter, a digit, `_` or `-`: no `.`, no `..`, nothing hidden. */
const KEY_PART = /^[\p{L}\p{N}_-][\p{L}\p{N} ._@+()-]{0,120}$/u;

/** Checks that `key` names a file below the folder. Throws FILE_KEY_INVALID. */
export function checkFileKey(key: string): void {
  const parts = key.split('/');
  const isValid =
    key.length <= KEY_CHARACTERS_MAX &&
    parts.length <= KEY_PARTS_MAX &&
    parts.every((part) => KEY_PART.test(part));
  if (!isValid) throw new GatewayError('FILE_KEY_INVALID');
}

export class LocalFileStore implements Spool {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #room: DiskRoom | undefined;
  readonly #writes = new WriteThread();

  /** `room`: files that grow are refused without it. Undefined: they grow until the disk is full. */
  constructor(folder: string, of: { clock: Clock; random: Random; room?: DiskRoom | undefined }) {
    this.#folder = folder;
    this.#clock = of.clock;
    this.#random = of.random;
    this.#room = of.room;
  }

  /** Creates a file that grows; replaces an older one of that key, or continues it at `from`. Throws FILE_KEY_INVALID,
   *  STORE_FULL. */
  async create(key: string, from?: number): Promise<FileWriter> {
    const path = this.pathOf(key);
    const flags = from === undefined ? 'w' : constants.O_RDWR | constants.O_CREAT;
    await this.#room?.check();
    try {
      const file = await inFolder(path, () => open(path, flags, 0o600));
      return new LocalFileWriter(file, this.#writes, from);
    } catch (error) {
      throw diskError(error);
    }
  }

  /** Stores a file. Throws FILE_KEY_INVALID, STORE_FULL. */
  async write(key: string, bytes: Uint8Array): Promise<void> {
    await this.#store(key, (unfinished) => writeDurably(unfinished, bytes));
  }

  /** Stores the pieces of `source`; the file appears under `key` when it is complete and on the disk. Of two that come
   *  at the same moment the later one stays. Throws FILE_KEY_INVALID, FILE_EXISTS, FILE_OVERSIZED, STORE_FULL, and what
   *  `source` throws. */
  async receive(key: string, source: AsyncIterable<Uint8Array>, bytesMax: number): Promise<void> {
    if ((await this.stat(key)) !== undefined) throw new GatewayError('FILE_EXISTS');
    await this.#store(key, (unfinished) => receiveDurably(unfinished, source, bytesMax));
  }

  /** Writes the pieces of `source` to a file without a key, which `use` gets by its path and which is removed
   *  afterwards. Throws FILE_OVERSIZED, STORE_FULL, and what `source` and `use` throw. */
  async stage(
    source: AsyncIterable<Uint8Array>,
    bytesMax: number,
    use: (path: string) => Promise<void>,
  ): Promise<void> {
    const unfinished = join(this.#folder, UNFINISHED, this.#random.uuid());
    try {
      const file = await inFolder(unfinished, () => open(unfinished, 'wx', 0o600));
      await receiveDurably(file, source, bytesMax);
      await use(unfinished);
    } catch (error) {
      throw isOfDisk(error) ? diskError(error) : error;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  /** Stores the file that `write` writes, flushes and closes. */
  async #store(key: string, write: (unfinished: FileHandle) => Promise<void>): Promise<void> {
    const path = this.pathOf(key);
    const unfinished = join(this.#folder, UNFINISHED, this.#random.uuid());
    try {
      await write(await inFolder(unfinished, () => open(unfinished, 'wx', 0o600)));
      await inFolder(path, () => rename(unfinished, path));
      await flushFolder(dirname(path));
    } catch (error) {
      await rm(unfinished, { force: true });
      throw isOfDisk(error) ? diskError(error) : error;
    }
  }

  /** Removes incomplete files of killed processes. */
  async removeUnfinished(): Promise<void> {
    const folder = join(this.#folder, UNFINISHED);
    const names = await readdir(folder).catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
    for (const name of names) {
      const path = join(folder, name);
      const found = await stat(path).catch((error: unknown) => {
        if (!isMissing(error)) throw error; // Another process has stored it.
      });
      const ageMs = found === undefined ? 0 : this.#clock.now() - found.mtimeMs;
      if (ageMs > UNFINISHED_MS_MAX) await rm(path, { force: true });
    }
  }

  async stat(key: string): Promise<FileStatus | undefined> {
    try {
      const status = await stat(this.pathOf(key));
      return status.isFile() ? statusOf(status) : undefined;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  /** Reads a file. `range` is inclusive. Throws FILE_NOT_FOUND. */
  async read(key: string, range?: { start: number; end: number }): Promise<NodeJS.ReadableStream> {
    const path = this.pathOf(key);
    try {
      const file = await open(path, 'r');
      return createReadStream(path, { fd: file, ...range });
    } catch (error) {
      throw isMissing(error) ? new GatewayError('FILE_NOT_FOUND', {}, error) : error;
    }
  }

  /** Reads a whole file. Throws FILE_NOT_FOUND. */
  async readAll(key: string): Promise<Buffer> {
    try {
      return await readFile(this.pathOf(key));
    } catch (error) {
      throw isMissing(error) ? new GatewayError('FILE_NOT_FOUND', {}, error) : error;
    }
  }

  /** Removes a file. Succeeds if it does not exist. */
  async remove(key: string): Promise<void> {
    await rm(this.pathOf(key), { force: true });
  }

  /** All files, also those that grow. Keys that no file of ours has may be among them. */
  entries(): AsyncGenerator<FolderEntry> {
    return entriesBelow(this.#folder);
  }

  /** Takes a file out of use and keeps it. */
  async setAside(key: string): Promise<void> {
    const path = join(this.#folder, SET_ASIDE, key);
    await inFolder(path, () => rename(this.pathOf(key), path));
  }

  /** Path of a file. Throws FILE_KEY_INVALID. */
  pathOf(key: string): string {
    checkFileKey(key);
    return join(this.#folder, key);
  }
}

function statusOf({ size, mtime }: Stats): FileStatus {
  const etag = `"${size.toString(36)}-${mtime.getTime().toString(36)}"`;
  return { size, modifiedAt: mtime, etag };
}

/** The result of `work`, which needs the folder of `path`. The folder is created where it is missing: to look for it
 *  before each file costs as much as the file. */
async function inFolder<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return work();
}

async function receiveDurably(
  file: FileHandle,
  source: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<void> {
  try {
    let bytes = 0;
    let written = 0;
    let gathered: Uint8Array[] = [];
    for await (const piece of source) {
      bytes += piece.length;
      if (bytes > bytesMax) throw new GatewayError('FILE_OVERSIZED', { bytes: bytesMax });
      gathered.push(piece);
      if (bytes - written < GATHERED_BYTES && gathered.length < GATHERED_PIECES_MAX) continue;
      await writeAll(file, gathered);
      gathered = [];
      written = bytes;
    }
    await writeAll(file, gathered);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function writeAll(file: FileHandle, pieces: Uint8Array[]): Promise<void> {
  if (pieces.length === 0) return;
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const { bytesWritten } = await file.writev(pieces);
  if (bytesWritten === bytes) return;
  // A full disk writes a part, and refuses the rest.
  await file.writeFile(Buffer.concat(pieces).subarray(bytesWritten));
}

async function writeDurably(file: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Flushes the folder: only then is the name of a new file on the disk. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Whether the error is one of the file system: those have the name of the failed system call, those of a socket do
 *  not. */
function isOfDisk(error: unknown): boolean {
  if (!(error instanceof Error) || !('syscall' in error)) return false;
  return ['open', 'write', 'writev', 'fsync', 'rename', 'mkdir', 'close'].includes(
    String(error.syscall),
  );
}

function isMissing(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EISDIR';
}
