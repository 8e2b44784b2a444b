// Entry points for worker threads and child processes: the built .js in production, the .ts through
// tsx in development and tests.

import { fileURLToPath } from 'node:url';

export interface Entry {
  /** Absolute path of the module to run. */
  path: string;
  /** Node flags that it needs. */
  execArgv: string[];
}

/** `path` is relative to `from` (an `import.meta.url`) and ends in `.ts`, as in the sources. */
export function entryPoint(path: string, from: string): Entry {
  if (from.endsWith('.ts')) {
    return { path: fileURLToPath(new URL(path, from)), execArgv: ['--import', 'tsx'] };
  }
  return { path: fileURLToPath(new URL(path.replace(/\.ts$/, '.js'), from)), execArgv: [] };
}
