// The files below a folder, one after another: their number has no limit, and memory has.

import type { Dir } from 'node:fs';
import { opendir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Depth of the folders: the parts of the longest key. */
const DEPTH_MAX = 8;

export interface FolderEntry {
  /** Path below the folder, with slashes. */
  key: string;
  size: number;
  modifiedAt: Date;
}

/** All files but hidden ones. Files that come or go meanwhile may be missing. Throws what the file system throws. */
export async function* entriesBelow(folder: string, depth = 1): AsyncGenerator<FolderEntry> {
  const opened = await openedOrMissing(folder);
  if (opened === undefined) return;
  for await (const each of opened) {
    if (each.name.startsWith('.')) continue;
    if (each.isFile()) yield* entryOf(folder, each.name);
    if (!each.isDirectory() || depth === DEPTH_MAX) continue;
    for await (const entry of entriesBelow(join(folder, each.name), depth + 1)) {
      yield { ...entry, key: `${each.name}/${entry.key}` };
    }
  }
}

async function* entryOf(folder: string, name: string): AsyncGenerator<FolderEntry> {
  const status = await stat(join(folder, name)).catch(() => undefined); // It is gone.
  if (status !== undefined) yield { key: name, size: status.size, modifiedAt: status.mtime };
}

async function openedOrMissing(folder: string): Promise<Dir | undefined> {
  try {
    return await opendir(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
