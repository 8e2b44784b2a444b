// Files of the console as the build made them, held in memory: under 1 MB. A request names one of them exactly, so that
// no path leads elsewhere.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
/** Encodings in the order of preference, with the ending of their files. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;
const PAGE = 'index.html';

export interface ConsoleFile {
  type: string;
  bytes: Buffer;
  /** Compressed forms, by their `Content-Encoding`, the smallest first. */
  encoded: { encoding: string; bytes: Buffer }[];
  etag: string;
}

export interface ConsoleFiles {
  /** The page, at every address that is no file. */
  page: ConsoleFile;
  /** By their path below `/console/`: `assets/main-1A2B3C4D.js`. */
  byPath: ReadonlyMap<string, ConsoleFile>;
}

/** Reads the built console; undefined if there is none in `folder`. */
export function readConsole(folder: string): ConsoleFiles | undefined {
  if (!existsSync(join(folder, PAGE))) return undefined;
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && TYPES[extname(entry.name)] !== undefined)
    .map((entry) => join(entry.parentPath, entry.name));
  const byPath = new Map(
    paths.map((path) => [path.slice(folder.length).replaceAll('\\', '/'), fileAt(path)]),
  );
  const page = byPath.get(PAGE);
  if (page === undefined) return undefined;
  byPath.delete(PAGE);
  return { page, byPath };
}

function fileAt(path: string): ConsoleFile {
  const bytes = readFileSync(path);
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    encoded: ENCODINGS.filter(([, ending]) => existsSync(path + ending)).map(
      ([encoding, ending]) => ({ encoding, bytes: readFileSync(path + ending) }),
    ),
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`,
  };
}
