// Lets a process and its descendants run for a part of the time only, as on a machine without processor time for them:
// all are stopped and continued together by signals, which needs no privilege. With two cores the processes of a
// gateway may get up to twice the share of one core.

import { readdirSync, readFileSync } from 'node:fs';

export interface Share {
  /** Milliseconds of every period for which the processes run. */
  onMs: number;
  everyMs: number;
}

export class DutyCycle {
  readonly #rootOf: () => number | undefined;
  readonly #share: Share;
  /** Processes that were stopped and may live: children of a killed process are not found by their parent any more. */
  readonly #known = new Set<number>();
  readonly #continueAll = (): void => this.#signal('SIGCONT');
  #timer: NodeJS.Timeout | undefined;

  /** `rootOf`: the process whose tree it is at the moment; undefined if there is none. */
  constructor(rootOf: () => number | undefined, share: Share) {
    this.#rootOf = rootOf;
    this.#share = share;
    process.once('exit', this.#continueAll);
    this.#run();
  }

  /** Lets all processes run from now on. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#continueAll();
    process.off('exit', this.#continueAll);
  }

  #run(): void {
    this.#signal('SIGCONT');
    this.#timer = setTimeout(() => this.#pause(), this.#share.onMs);
  }

  #pause(): void {
    const root = this.#rootOf();
    if (root !== undefined) for (const pid of treeOf(root)) this.#known.add(pid);
    this.#signal('SIGSTOP');
    this.#timer = setTimeout(() => this.#run(), this.#share.everyMs - this.#share.onMs);
  }

  #signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    for (const pid of this.#known) {
      try {
        process.kill(pid, signal);
      } catch {
        this.#known.delete(pid); // It has ended.
      }
    }
  }
}

/** The process and its descendants; empty if it has ended. */
function treeOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean),
    );
    return [pid, ...children.flatMap((child) => treeOf(Number(child)))];
  } catch {
    return [];
  }
}
