// Work of a worker thread since it last made progress. It distinguishes a thread that hangs from one that a busy machine
// keeps waiting: by the thread's own processor time, where the system reports it (Linux, proc(5)).

import { readFileSync, readlinkSync } from 'node:fs';
import type { Clock } from '../std/clock.ts';

/** Time after which a thread without progress hangs although it has not worked: it waits for something that does not
 *  come. */
const IDLE_MS_MAX = 60_000;
/** Largest time between two looks that counts: this process may have been stopped itself. */
const STEP_MS_MAX = 500;
/** Link to `<process>/task/<thread>`. */
const THIS_THREAD = '/proc/thread-self';
/** Unit of times in /proc, USER_HZ. */
const TICK_MS = 10;
/** Fields of /proc/<pid>/stat behind the name in brackets: user and system time. */
const TIMES = [11, 12] as const;

/** The kernel's id of this thread. 0 if the system does not report it. */
export function ownThreadId(): number {
  try {
    return Number(readlinkSync(THIS_THREAD).split('/').at(-1));
  } catch {
    return 0; // Not Linux.
  }
}

/** Processor time of a thread of this process, in steps of 10 ms. Undefined if the system does not report it, or the
 *  thread has ended. */
export function processorMsOf(threadId: number): number | undefined {
  if (threadId === 0) return undefined;
  try {
    const stat = readFileSync(`/proc/self/task/${threadId}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return TIMES.reduce((sum, field) => sum + Number(fields[field]) * TICK_MS, 0);
  } catch {
    return undefined;
  }
}

export class ThreadWork {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #processorMs: () => number | undefined;
  #workMs = 0;
  #waitMs = 0;
  #lookedMs = 0;
  #processorBefore: number | undefined;

  /** `processorMs`: processor time of the thread so far; undefined: time counts in its place. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, processorMs: () => number | undefined) {
    this.#clock = clock;
    this.#processorMs = processorMs;
    this.progressed();
  }

  /** Notes that the thread makes progress, or begins to work. */
  progressed(): void {
    this.#workMs = 0;
    this.#waitMs = 0;
    this.#lookedMs = this.#clock.monotonicMs();
    this.#processorBefore = this.#processorMs();
  }

  /** Whether the thread has worked for `workMsMax` without progress. Call it every half second at least. */
  isStuck(workMsMax: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    const stepMs = Math.min(nowMs - this.#lookedMs, STEP_MS_MAX);
    const processorMs = this.#processorMs();
    const before = this.#processorBefore;
    const isKnown = processorMs !== undefined && before !== undefined;
    this.#workMs += isKnown ? processorMs - before : stepMs;
    this.#waitMs += stepMs;
    this.#lookedMs = nowMs;
    this.#processorBefore = processorMs;
    return this.#workMs >= workMsMax || this.#waitMs >= Math.max(IDLE_MS_MAX, workMsMax);
  }
}
