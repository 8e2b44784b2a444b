// Helper threads of V8, which collect garbage and compile beside an event loop. V8 starts four on any machine. With few
// cores they add nothing and take processor time from event loops: each runnable thread gets a share, however low its
// priority (see thread-priority.ts).

import { availableParallelism } from 'node:os';

/** Number that Node starts by default. */
const THREADS_DEFAULT = 4;

/** Node options for a process without calls: one helper thread for each core but one, at least one. Empty if the
 *  machine has cores for the default. */
export function engineThreadOptions(cores = availableParallelism()): string[] {
  const threads = Math.max(1, cores - 1);
  return threads < THREADS_DEFAULT ? [`--v8-pool-size=${threads}`] : [];
}
