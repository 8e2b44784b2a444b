// Takes up work that the store keeps and has it done: a bounded number at a time, of each owner fewer, so
// that one whose work is slow leaves room for the others. What the work is, and how often it is tried,
// is not known here; several processes may run the same loop.

import type { Log } from '../log.ts';
import type { Clock, Timer } from './clock.ts';

/** What is under way may end by itself for this long when the process stops. */
const STOP_GRACE_MS = 5_000;

export interface JobLoopOptions<T> {
  /** For the log. */
  name: string;
  clock: Clock;
  log: Log;
  /** Between looks at the store while nothing is known to wait. */
  everyMs: number;
  /** At a time, in all and of one owner. */
  slots: number;
  slotsPerOwner: number;
  /** Takes up at most `limit` pieces, none of the owners in `except`. */
  claim(limit: number, except: readonly string[]): Promise<T[]>;
  ownerOf(item: T): string;
  /** Reports to the store itself. `signal` fires when the process can wait no longer. */
  perform(item: T, signal: AbortSignal): Promise<void>;
  /** Taken up too late: the process stops. */
  giveBack(item: T): Promise<void>;
}

export class JobLoop<T> {
  readonly #options: JobLoopOptions<T>;
  readonly #abort = new AbortController();
  readonly #running = new Map<Promise<void>, string>();
  #timer: Timer | undefined;
  #looking: Promise<void> | undefined;
  #wanted = false;
  #hasStopped = false;

  constructor(options: JobLoopOptions<T>) {
    this.#options = options;
  }

  /** How many pieces are under way. */
  get size(): number {
    return this.#running.size;
  }

  start(): void {
    this.#wait();
    this.wake();
  }

  /** There may be work. */
  wake(): void {
    if (this.#hasStopped) return;
    this.#wanted = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (this.#wanted) this.wake();
    });
  }

  /** Takes nothing up any more and waits for what is under way, which is cut short after a while. */
  async stop(): Promise<void> {
    this.#hasStopped = true;
    this.#timer?.cancel();
    const grace = this.#options.clock.after(STOP_GRACE_MS, () => this.#abort.abort());
    await this.#looking;
    await Promise.all(this.#running.keys());
    grace.cancel();
  }

  #wait(): void {
    if (this.#hasStopped) return;
    const { clock, everyMs } = this.#options;
    this.#timer = clock.after(everyMs, () => {
      this.#wait();
      this.wake();
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    const { name, log, slots, claim } = this.#options;
    try {
      while (this.#wanted && !this.#hasStopped) {
        this.#wanted = false; // Who wakes it meanwhile wants another look.
        const free = slots - this.#running.size;
        const items = free > 0 ? await claim(free, this.#fullOwners()) : [];
        if (items.length > 0) this.#wanted = true;
        for (const item of items) this.#begin(item);
      }
    } catch (error) {
      log.warn({ err: error, loop: name }, 'no work taken up');
    }
  }

  #begin(item: T): void {
    const { name, log, perform, giveBack, ownerOf } = this.#options;
    const work = this.#hasStopped ? giveBack(item) : perform(item, this.#abort.signal);
    const guarded = work
      .catch((error: unknown) => log.error({ err: error, loop: name }, 'work failed'))
      .finally(() => {
        this.#running.delete(guarded);
        this.wake();
      });
    this.#running.set(guarded, ownerOf(item));
  }

  #fullOwners(): string[] {
    const counts = new Map<string, number>();
    for (const owner of this.#running.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return [...counts].filter(([, n]) => n >= this.#options.slotsPerOwner).map(([owner]) => owner);
  }
}
