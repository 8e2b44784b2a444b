// Entry points for worker threads and child processes: the built .js in production, the .ts through
// tsx in development and tests.

import { fileURLToPath } from 'node:url';

export interface EntryPoint {
  /** Absolute path of the module to run. */
  path: string;
  /** Node flags for the module. */
  execArgv: string[];
}

/** Entry point for a child process. `path` is relative to `from` (an `import.meta.url`) and ends in `.ts`, as in the
 *  sources. */
export function entryPoint(path: string, from: string): EntryPoint {
  if (from.endsWith('.ts')) {
    return { path: fileURLToPath(new URL(path, from)), execArgv: ['--import', 'tsx'] };
  }
  return { path: fileURLToPath(new URL(path.replace(/\.ts$/, '.js'), from)), execArgv: [] };
}

/** Entry point for a worker thread. Node 20 takes no loader from flags there: the sources are started through a line of
 *  code that registers the loader first. */
export function workerEntry(path: string, from: string): URL {
  if (!from.endsWith('.ts')) return new URL(path.replace(/\.ts$/, '.js'), from);
  const loader = `register('tsx/esm', ${JSON.stringify(from)}, { data: {} })`;
  const start = `await import(${JSON.stringify(new URL(path, from).href)})`;
  const code = `import { register } from 'node:module'; ${loader}; ${start};`;
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
