// The priority of what is not the gateway's: the processes of callers and of services.

import { setPriority } from 'node:os';

/** Before a gateway on the same cores: a telephone or a service does not wait for them, and its lateness would pass for the
 *  gateway's. Among themselves they are equal. */
const NICENESS = -10;

export function goFirst(pid: number): void {
  try {
    setPriority(pid, NICENESS);
  } catch {
    // Only the administrator may.
  }
}
