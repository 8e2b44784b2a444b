// Limit of open files and sockets of this process (RLIMIT_NOFILE). Node raises the soft limit to the hard one at its
// start; child processes inherit both.

import { readFileSync } from 'node:fs';

/** The limit. Undefined if the system reports none or is not Linux. */
export function openFilesMax(limits: string = ownLimits()): number | undefined {
  const soft = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return soft === undefined ? undefined : Number(soft);
}

function ownLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return ''; // Not Linux.
  }
}
