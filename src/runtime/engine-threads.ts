// Helper threads of V8, which collect garbage and compile beside an event loop. V8 starts four whatever the machine
// has. On few cores they add nothing and take processor time from event loops: each thread that can run gets its
// share, however low its priority (see thread-priority.ts).

import { availableParallelism } from 'node:os';

/** What Node starts by itself. */
const THREADS_DEFAULT = 4;

/** Options of Node for a process without calls: a helper thread for each core but one, one at least. None where the machine has
 *  cores for the default. */
export function engineThreadOptions(cores = availableParallelism()): string[] {
  const threads = Math.max(1, cores - 1);
  return threads < THREADS_DEFAULT ? [`--v8-pool-size=${threads}`] : [];
}
