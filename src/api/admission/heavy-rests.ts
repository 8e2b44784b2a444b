// Rests between pieces of heavy work: while the event loop is busy and other names use it, a name gets a quarter of it
// for heavy work, however much it has waiting. On an idle machine, or with one organization alone, no name rests.
// route-admissions.ts lists the heavy routes.

import type { Clock, Timer } from '../../std/clock.ts';

/** Rest as a multiple of the time of a piece, which includes its waits for the processor. */
const RESTS_OF_WORK = 3;
/** Longest rest: a large report is read slowly by its client, and uses the event loop for only part of its time. */
const REST_MS_MAX = 2_000;
/** Time for which a name counts as active: a dashboard requests every few seconds, calls come more often. */
const ACTIVE_MS = 2_000;
/** Resting names; beyond, the oldest rest is cancelled. Each name has ended a piece within its rest. */
const RESTING_MAX = 1_000;
/** Active names that are kept. Two would be enough to see whether another name is active; further ones expire
 *  sooner. */
const ACTIVE_MAX = 16;

export class HeavyRests {
  readonly #clock: Clock;
  readonly #isLoopBusy: () => boolean;
  /** Time of the last request by name, the latest at the end. */
  readonly #active = new Map<string, number>();
  readonly #resting = new Map<string, { untilMs: number; timer: Timer }>();
  readonly #onOver: (() => void)[] = [];

  constructor(clock: Clock, isLoopBusy: () => boolean) {
    this.#clock = clock;
    this.#isLoopBusy = isLoopBusy;
  }

  /** Notes a request of the name. */
  note(name: string): void {
    this.#active.delete(name);
    this.#active.set(name, this.#clock.monotonicMs());
    const [oldest] = this.#active.keys();
    if (this.#active.size > ACTIVE_MAX && oldest !== undefined) this.#active.delete(oldest);
  }

  /** Whether the name rests, in every queue of heavy work. */
  isResting(name: string): boolean {
    return this.#resting.has(name);
  }

  /** Sets a function that is called at the end of each rest. */
  onOver(serve: () => void): void {
    this.#onOver.push(serve);
  }

  /** Notes the end of a piece that took `workMs`. */
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
