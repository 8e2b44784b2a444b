// A clock that moves by calls of a test. Timers run in the order of their time.

import type { Clock, Stall, Timer } from '../../src/std/clock.ts';

interface Waiting {
  at: number;
  order: number;
  run: () => void;
}

export class FakeClock implements Clock {
  #elapsedMs = 0;
  #order = 0;
  readonly #startAt: number;
  #waiting: Waiting[] = [];
  /** What the process of this clock did, as a test says. */
  stalled: Stall | undefined;

  /** `startAt` is the wall clock at the beginning, milliseconds since 1970. */
  constructor(startAt = Date.UTC(2026, 0, 15, 9, 0, 0)) {
    this.#startAt = startAt;
  }

  /** Timers that have not run. */
  get timers(): number {
    return this.#waiting.length;
  }

  lastStall(): Stall | undefined {
    return this.stalled;
  }

  now(): number {
    return this.#startAt + Math.floor(this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, run: () => void): Timer {
    this.#order += 1;
    const entry = { at: this.#elapsedMs + Math.max(0, delayMs), order: this.#order, run };
    this.#waiting.push(entry);
    return {
      cancel: () => {
        this.#waiting = this.#waiting.filter((each) => each !== entry);
      },
    };
  }

  /** Moves time on, running every timer that falls due on the way. */
  advance(ms: number): void {
    const until = this.#elapsedMs + ms;
    for (let next = this.#next(until); next !== undefined; next = this.#next(until)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, next.at);
      next.run();
    }
    this.#elapsedMs = until;
  }

  /** Time passes without any timer having had its turn: a stalled event loop. */
  stall(ms: number): void {
    this.#elapsedMs += ms;
  }

  /** Moves time on in steps, with settled promises between them. */
  async advanceAsync(ms: number, stepMs = 20): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.advance(Math.min(stepMs, ms - passed));
      await settle();
    }
  }

  #next(until: number): Waiting | undefined {
    let first: Waiting | undefined;
    for (const each of this.#waiting) {
      if (each.at > until) continue;
      if (
        first === undefined ||
        each.at < first.at ||
        (each.at === first.at && each.order < first.order)
      ) {
        first = each;
      }
    }
    if (first !== undefined) this.#waiting = this.#waiting.filter((each) => each !== first);
    return first;
  }
}

/** Waits until every promise that can settle has settled. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
}
