// The priority of the callers' process.

import { setPriority } from 'node:os';

/** Before a gateway on the same cores: a telephone does not wait for them, and its lateness would pass for the gateway's.
 *  Services on the callers' core yield to them: with both before the gateway, the callers were late. */
const NICENESS = -10;

export function goFirst(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // Only the administrator may.
  }
}
