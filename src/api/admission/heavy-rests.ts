// How long a name rests between pieces of heavy work: while the event loop has no time to spare and others want some of
// it, a name has a quarter of it for such work, however much it has waiting. A machine that is idle, or one organization
// alone, rests never. Which work is heavy, the table of admissions says.

import type { Clock, Timer } from '../../std/clock.ts';

/** Of the time that a piece has taken; the piece took longer than its work where it waited for the processor. */
const RESTS_OF_WORK = 3;
/** A large report is read slowly by its client, and takes less of the event loop than of the time. */
const REST_MS_MAX = 2_000;
/** A dashboard asks every few seconds, calls come more often: who was there so recently comes again. */
const ACTIVE_MS = 2_000;
/** Names at rest; beyond it the one that began first is forgiven. Each has ended a piece within its rest. */
const RESTING_MAX = 1_000;
/** Two would do: whether another name than the one that asks was there. Those between leave sooner. */
const ACTIVE_MAX = 16;

export class HeavyRests {
  readonly #clock: Clock;
  readonly #isLoopBusy: () => boolean;
  /** By name when it was there last, the latest at the end. */
  readonly #active = new Map<string, number>();
  readonly #resting = new Map<string, { untilMs: number; timer: Timer }>();
  readonly #onOver: (() => void)[] = [];

  constructor(clock: Clock, isLoopBusy: () => boolean) {
    this.#clock = clock;
    this.#isLoopBusy = isLoopBusy;
  }

  /** Asks for something. */
  note(name: string): void {
    this.#active.delete(name);
    this.#active.set(name, this.#clock.monotonicMs());
    const [oldest] = this.#active.keys();
    if (this.#active.size > ACTIVE_MAX && oldest !== undefined) this.#active.delete(oldest);
  }

  /** In every queue of heavy work. */
  isResting(name: string): boolean {
    return this.#resting.has(name);
  }

  /** `serve` is called at the end of a rest. */
  onOver(serve: () => void): void {
    this.#onOver.push(serve);
  }

  /** A piece has ended after `workMs`. */
  noteWork(name: string, workMs: number): void {
    if (workMs <= 0 || !this.#hasOthers(name) || !this.#isLoopBusy()) return;
    const now = this.#clock.monotonicMs();
    const restMs = Math.min(workMs * RESTS_OF_WORK, REST_MS_MAX);
    const untilMs = Math.max(this.#resting.get(name)?.untilMs ?? 0, now + restMs);
    this.#endRest(name);
    const timer = this.#clock.after(untilMs - now, () => {
      this.#endRest(name);
      for (const serve of this.#onOver) serve();
    });
    this.#resting.set(name, { untilMs, timer });
    const [oldest] = this.#resting.keys();
    if (this.#resting.size > RESTING_MAX && oldest !== undefined) this.#endRest(oldest);
  }

  #endRest(name: string): void {
    this.#resting.get(name)?.timer.cancel();
    this.#resting.delete(name);
  }

  #hasOthers(name: string): boolean {
    const sinceMs = this.#clock.monotonicMs() - ACTIVE_MS;
    return [...this.#active].some(([each, lastMs]) => each !== name && lastMs >= sinceMs);
  }
}
