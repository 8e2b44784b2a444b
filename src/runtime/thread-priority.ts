// Thread priority: the niceness of each thread for the kernel's scheduler, so that threads with a 20 ms deadline run
// first when processors are short. Linux only, where each thread has its own niceness (sched(7), setpriority(2)).

import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Fault } from './self-test-report.ts';
import { ownThreadId } from './thread-work.ts';

/** Steps for background threads. Ten steps of niceness leave a tenth of the processor time against a busy thread:
 *  garbage collection takes 100 ms of four threads, which would leave the event loop a fifth. */
const ASIDE_STEPS = 10;
/** Steps for a thread that serves its process's event loop: a fifth of the time against a busy one. */
const SERVING_STEPS = 7;
/** Steps for the processes of the API and of the embedded database: half of the time against a busy event loop of
 *  calls, which one within its limit is not. Calls also wait for database statements, and the engine serves theirs
 *  first. Measured with 300 calls beside an attack on the API, on one core that they fill. The database: with 7 steps,
 *  statements of calls occupied the engine for 0.5 to 0.9 s of each of the first fifteen seconds, with 3 for 0.2 to
 *  0.35 s. The API: with 7 steps its event loop got an eighth of the core and its turns took 0.15 to 0.27 s, so that
 *  upgrades, of which one a turn goes to the worker, waited for seconds; with 3 turns took 0.06 to 0.08 s, and calls
 *  were as punctual. */
const PROCESS_STEPS = 3;
/** Steps for the other threads of a serving process, which compile its code: with ten below its event loop, on a full
 *  core, the API's four threads waited 70 to 85 % of the time and got 2 % each throughout an attack of 45 s; with five
 *  they finish in a quarter of it. */
const SERVING_ASIDE_STEPS = 5;
const NICENESS_MAX = 19;
const THREADS = '/proc/self/task';

/** Raises the event loop above all threads that run beside it: those of the engine (garbage collection, compilation)
 *  and of file access. Call it in the main thread; later threads inherit its priority until they lower themselves.
 *  Returns a fault if a niceness was not accepted, or was applied to the whole process. */
export function raiseEventLoopPriority(): Fault {
  const own = nicenessOf(process.pid);
  for (const thread of threads()) {
    if (thread === process.pid) continue;
    const before = nicenessOf(thread);
    if (before === undefined) continue; // The thread has ended.
    yieldBy(thread, ASIDE_STEPS);
    const after = nicenessOf(thread);
    if (nicenessOf(process.pid) !== own) return 'the niceness of a thread is that of the process';
    const wanted = Math.min(NICENESS_MAX, before + ASIDE_STEPS);
    if (after !== undefined && after !== wanted) return 'the niceness of a thread was not accepted';
  }
  return undefined;
}

/** Lowers this process below those that it serves, and its other threads below its event loop: each thread of equal
 *  priority would take a share from the calls. A thread that has lowered itself, or does so later, keeps its distance
 *  to the event loop. */
export function lowerProcessPriority(): void {
  const own = nicenessOf(process.pid) ?? 0;
  for (const thread of threads()) {
    const isUrgent = thread !== process.pid && nicenessOf(thread) === own;
    yieldBy(thread, PROCESS_STEPS + (isUrgent ? SERVING_ASIDE_STEPS : 0));
  }
}

/** Lowers a thread that was started to serve the event loop. */
export function lowerThreadPriority(): void {
  lowerThisThread(SERVING_STEPS);
}

/** Lowers a thread with long work and no deadline in milliseconds: it runs in the time that other threads leave. */
export function yieldToAllThreads(): void {
  lowerThisThread(ASIDE_STEPS);
}

function lowerThisThread(steps: number): void {
  const thread = ownThreadId();
  if (thread !== 0) yieldBy(thread, steps);
}

function threads(): number[] {
  try {
    return readdirSync(THREADS).map(Number);
  } catch {
    return []; // Not Linux.
  }
}

/** Niceness of a thread. Undefined if it has ended. */
function nicenessOf(thread: number): number | undefined {
  try {
    return getPriority(thread);
  } catch {
    return undefined;
  }
}

function yieldBy(thread: number, steps: number): void {
  try {
    setPriority(thread, Math.min(NICENESS_MAX, getPriority(thread) + steps));
  } catch {
    // The thread has ended or may not be changed: its priority stays.
  }
}
