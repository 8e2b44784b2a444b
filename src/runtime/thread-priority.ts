// Thread priority: the niceness of each thread of this process for the kernel's scheduler. Where processors are
// short, threads with a 20 ms deadline run first. Linux has one niceness for each thread
// (sched(7), setpriority(2)); elsewhere nothing is changed.

import { readdirSync, readlinkSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import type { Fault } from './self-test-report.ts';

/** Ten steps of niceness are a tenth of the processor time against a thread that wants all of it: a
 *  collection of garbage takes 100 ms of four threads, which would leave the event loop a fifth. */
const ASIDE_STEPS = 10;
/** Of a thread that serves the event loop of its process: a fifth against one that wants all of the processor. */
const SERVING_STEPS = 7;
/** Of the processes of the API and of the embedded database: half against an event loop of calls that wants all of the
 *  processor, which one with calls within its limit does not. Calls wait for statements as well, and the engine takes theirs
 *  first. Measured with 300 calls beside an attack on the API, on one core that they fill. The database: with 7 steps
 *  statements of calls occupied the engine for 0.5 to 0.9 s of each second of the first fifteen, with 3 for 0.2 to 0.35. The
 *  API: with 7 steps its event loop got an eighth of the core and its turns took 0.15 to 0.27 s, so that upgrades, one of
 *  which goes to the worker in a turn, waited for seconds; with 3 turns took 0.06 to 0.08 s, and calls were as punctual. */
const PROCESS_STEPS = 3;
/** Of the other threads of a process that serves. They compile what it runs: with ten steps below its event loop, on a
 *  full core, the four of the API waited for 70 to 85 % of the time and got 2 % each for as long as an attack of 45 s
 *  lasted; with five they are through in a quarter of it. */
const SERVING_ASIDE_STEPS = 5;
const NICENESS_MAX = 19;
const THREADS = '/proc/self/task';
/** Points to `<process>/task/<thread>`. */
const THIS_THREAD = '/proc/thread-self';

/** The event loop goes before every thread that runs now beside it: those of the engine (collecting,
 *  compiling) and of file access. For the main thread; threads that start later are as urgent as it,
 *  until they yield themselves. A fault: a niceness was not taken, or was taken for the whole process. */
export function raiseEventLoopPriority(): Fault {
  const own = nicenessOf(process.pid);
  for (const thread of threads()) {
    if (thread === process.pid) continue;
    const before = nicenessOf(thread);
    if (before === undefined) continue; // It has ended.
    yieldBy(thread, ASIDE_STEPS);
    const after = nicenessOf(thread);
    if (nicenessOf(process.pid) !== own) return 'the niceness of a thread is that of the process';
    const wanted = Math.min(NICENESS_MAX, before + ASIDE_STEPS);
    if (after !== undefined && after !== wanted) return 'the niceness of a thread was not taken';
  }
  return undefined;
}

/** The whole process goes after those that it serves, and its other threads after its event loop: each thread that is as
 *  urgent takes a share of its own from the calls. A thread that has lowered itself keeps its distance to the event loop,
 *  as one that starts later and does so. */
export function lowerProcessPriority(): void {
  const own = nicenessOf(process.pid) ?? 0;
  for (const thread of threads()) {
    const isUrgent = thread !== process.pid && nicenessOf(thread) === own;
    yieldBy(thread, PROCESS_STEPS + (isUrgent ? SERVING_ASIDE_STEPS : 0));
  }
}

/** For a thread that was started to serve the event loop: it goes after it. */
export function lowerThreadPriority(): void {
  lowerThisThread(SERVING_STEPS);
}

/** For a thread with long work and no deadline in milliseconds: it runs in the time that other threads leave. */
export function yieldToAllThreads(): void {
  lowerThisThread(ASIDE_STEPS);
}

function lowerThisThread(steps: number): void {
  try {
    yieldBy(Number(readlinkSync(THIS_THREAD).split('/').at(-1)), steps);
  } catch {
    // Not Linux.
  }
}

function threads(): number[] {
  try {
    return readdirSync(THREADS).map(Number);
  } catch {
    return []; // Not Linux.
  }
}

/** Undefined for a thread that has ended. */
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
    // It has ended, or may not be changed: it stays as urgent as it is.
  }
}
