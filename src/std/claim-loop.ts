// Claims stored work and has it carried out: a bounded number of pieces at a time, and fewer for each owner, so that
// one owner's slow work does not delay the others. The caller defines the work and its retries. Several processes may
// run the same loop.

import type { Log } from '../log.ts';
import type { Clock } from './clock.ts';
import { JobLoop } from './job-loop.ts';
import type { Random } from './random.ts';

/** Time for work in progress to finish when the process stops. */
const STOP_GRACE_MS = 5_000;
/** Longest interval of checks while the store is unavailable. */
const BACKOFF_MS_MAX = 10_000;

export interface ClaimLoopOptions<T> {
  /** Name in the log. */
  name: string;
  clock: Clock;
  random: Random;
  log: Log;
  /** Interval of checks of the store while no work is known to wait. */
  everyMs: number;
  /** Concurrent pieces, in total and for one owner. */
  slots: number;
  slotsPerOwner: number;
  /** Claims at most `limit` pieces, none of the owners in `except`. */
  claim(limit: number, except: readonly string[]): Promise<T[]>;
  ownerOf(item: T): string;
  /** Whether more work of its owner was due at the claim: a claim may take only one piece of each owner. */
  isFollowed(item: T): boolean;
  /** Carries out a piece and reports its result to the store. `signal` is aborted when the process cannot wait any
   *  longer. */
  perform(item: T, signal: AbortSignal): Promise<void>;
  /** Returns a piece that was claimed too late, because the process stops. */
  giveBack(item: T): Promise<void>;
}

export class ClaimLoop<T> {
  readonly #options: ClaimLoopOptions<T>;
  readonly #loop: JobLoop;
  readonly #abort = new AbortController();
  readonly #running = new Map<Promise<void>, string>();
  /** Whether work may wait for a free slot, in total or of its owner. */
  #isHeldBack = false;

  constructor(options: ClaimLoopOptions<T>) {
    this.#options = options;
    const { clock, random, everyMs, log, name } = options;
    this.#loop = new JobLoop({
      clock,
      everyMs,
      backoff: { msMax: Math.max(everyMs, BACKOFF_MS_MAX), random },
      run: (signal) => this.#claimAll(signal),
      onError: (error) => log.warn({ err: error, loop: name }, 'no work claimed'),
    });
  }

  /** Number of pieces in progress. */
  get size(): number {
    return this.#running.size;
  }

  start(): void {
    void this.#loop.start();
  }

  /** Checks the store at once, since there may be new work. */
  wake(): void {
    void this.#loop.wake();
  }

  /** Stops claiming and waits for the work in progress, which is aborted after STOP_GRACE_MS. */
  async stop(): Promise<void> {
    const grace = this.#options.clock.after(STOP_GRACE_MS, () => this.#abort.abort());
    await this.#loop.stop();
    await Promise.all(this.#running.keys());
    grace.cancel();
  }

  async #claimAll(signal: AbortSignal): Promise<void> {
    const { slots, claim, isFollowed } = this.#options;
    for (let isMore = true; isMore && !signal.aborted; ) {
      const full = this.#fullOwners();
      this.#isHeldBack = this.#running.size >= slots || full.length > 0;
      if (this.#running.size >= slots) return;
      const limit = slots - this.#running.size;
      const items = await claim(limit, full);
      for (const item of items) this.#begin(item);
      // Later work wakes the loop.
      isMore = items.length >= limit || items.some(isFollowed);
    }
  }

  #begin(item: T): void {
    const { name, log, perform, giveBack, ownerOf } = this.#options;
    const work = this.#loop.hasStopped ? giveBack(item) : perform(item, this.#abort.signal);
    const guarded = work
      .catch((error: unknown) => log.error({ err: error, loop: name }, 'work failed'))
      .finally(() => {
        this.#running.delete(guarded);
        if (this.#isHeldBack) this.wake();
      });
    this.#running.set(guarded, ownerOf(item));
  }

  #fullOwners(): string[] {
    const counts = new Map<string, number>();
    for (const owner of this.#running.values()) counts.set(owner, (counts.get(owner) ?? 0) + 1);
    return [...counts].filter(([, n]) => n >= this.#options.slotsPerOwner).map(([owner]) => owner);
  }
}
