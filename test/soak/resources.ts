// What a process holds: its sockets and servers, and its heap after a collection.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Sockets and servers of this process that are open. */
export function openHandles(): number {
  return process.getActiveResourcesInfo().filter((name) => /^(TCP|TLS|Pipe)/.test(name)).length;
}

/** Bytes that are used after everything unreachable is gone. */
export async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // What a first pass finalizes, a later one frees.
  for (let pass = 0; pass < 3; pass++) {
    collect();
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}
