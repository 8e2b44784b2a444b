// Creates a new database in a tenth of a second. Creating a cluster takes seconds and 840 MB, so it is done once per
// machine, in a cache folder, and data folders start as copies. A copy becomes visible only when it is complete and on
// the disk.

import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from './data-folder.ts';

/** Version (npm) of the engine that creates the template, because its files suit no other. */
export const TEMPLATE_VERSION = '0.5.16';

/** Size of a cluster's folder at its creation. */
interface Size {
  files: number;
  bytes: number;
}

export interface TemplateOptions {
  /** Folder of the database. */
  folder: string;
  cacheFolder: string;
  /** Creates a new cluster in a folder that does not exist. */
  initialise: (folder: string) => Promise<void>;
}

/** Creates a cluster in `folder` unless it has one. */
export async function prepareCluster(options: TemplateOptions): Promise<'existing' | 'new'> {
  const { folder, initialise } = options;
  if (existsSync(join(folder, 'PG_VERSION'))) return 'existing';
  const unfinished = `${folder}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  if (!(await copyTemplate(options, unfinished))) {
    rmSync(unfinished, { recursive: true, force: true });
    await initialise(unfinished);
    flushTree(unfinished);
  }
  renameSync(unfinished, folder);
  flush(dirname(folder));
  return 'new';
}

/** Creates the template unless it exists. Throws if the cache folder is not writable. */
export async function prepareTemplate(
  cacheFolder: string,
  initialise: (folder: string) => Promise<void>,
): Promise<string> {
  const template = join(cacheFolder, `postgres-${TEMPLATE_VERSION}`);
  if (existsSync(join(template, 'size.json'))) return template;
  const unfinished = `${template}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  makeFolder(unfinished);
  await initialise(join(unfinished, 'cluster'));
  const size = flushTree(join(unfinished, 'cluster'));
  writeFileSync(join(unfinished, 'size.json'), JSON.stringify(size));
  try {
    renameSync(unfinished, template);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    // Another process may have been first.
    if (!existsSync(join(template, 'size.json'))) throw error;
  }
  return template;
}

/** Copies the template. False if there is none. */
async function copyTemplate(options: TemplateOptions, to: string): Promise<boolean> {
  try {
    const template = await prepareTemplate(options.cacheFolder, options.initialise);
    const wanted = readFileSync(join(template, 'size.json'), 'utf8');
    copyTree(join(template, 'cluster'), to);
    if (JSON.stringify(flushTree(to)) === wanted) return true;
    // The cache was cleared: the next start creates the template again.
    rmSync(template, { recursive: true, force: true });
    return false;
  } catch {
    return false; // No cache folder, or not ours: creating a cluster directly works everywhere.
  }
}

function copyTree(from: string, to: string): void {
  mkdirSync(to, { mode: 0o700 });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyTree(source, target);
    else copyFileSync(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Flushes all files at the end: flushing each file as it is written took twice as long. */
function flushTree(folder: string): Size {
  const size: Size = { files: 0, bytes: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) {
      add(size, flushTree(path));
    } else {
      add(size, { files: 1, bytes: statSync(path).size });
      flush(path);
    }
  }
  flush(folder);
  return size;
}

function add(sum: Size, more: Size): void {
  sum.files += more.files;
  sum.bytes += more.bytes;
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
