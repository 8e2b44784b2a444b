// The media clock: one drift-free 20 ms tick for all calls of the process. It holds no call's state;
// whoever ticks computes what is due from `nowMs`, so missed ticks are not made up.

import { FRAME_MS } from '../audio/pcm.ts';
import { frameLatenessSeconds } from '../metrics.ts';
import type { Clock, Timer } from '../std/clock.ts';

type Tick = (nowMs: number) => void;

/** A timer that fires this early counts as on time: timers have whole milliseconds. */
const EARLY_MS_MAX = 1;

export class MediaClock {
  readonly #clock: Clock;
  /** With whom to tell if one throws. */
  readonly #ticks = new Map<Tick, (error: unknown) => void>();
  #timer: Timer | undefined;
  #dueMs = 0;
  #nowMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `tick` every 20 ms with the monotonic time until the returned function is called. If it
   *  throws, it is called no more and `onThrow`, which must not throw, is told; the others go on. */
  add(tick: Tick, onThrow: (error: unknown) => void): () => void {
    this.#ticks.set(tick, onThrow);
    if (this.#timer === undefined) {
      this.#dueMs = this.#clock.monotonicMs() + FRAME_MS;
      this.#arm();
    }
    return () => this.#remove(tick);
  }

  close(): void {
    this.#ticks.clear();
    this.#stop();
  }

  #remove(tick: Tick): void {
    this.#ticks.delete(tick);
    if (this.#ticks.size === 0) this.#stop();
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(): void {
    this.#timer = this.#clock.after(
      Math.max(0, this.#dueMs - this.#clock.monotonicMs()),
      this.#fire,
    );
  }

  readonly #fire = (): void => {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#dueMs - EARLY_MS_MAX) {
      frameLatenessSeconds.observe(Math.max(0, nowMs - this.#dueMs) / 1_000);
      const missed = Math.max(0, Math.floor((nowMs - this.#dueMs) / FRAME_MS));
      this.#dueMs += (missed + 1) * FRAME_MS;
      this.#runAll(nowMs);
    }
    if (this.#ticks.size > 0) this.#arm();
    else this.#stop();
  };

  #runAll(nowMs: number): void {
    this.#nowMs = nowMs;
    // A loop over a map makes a pair for each.
    this.#ticks.forEach(this.#run);
  }

  readonly #run = (onThrow: (error: unknown) => void, tick: Tick): void => {
    try {
      tick(this.#nowMs);
    } catch (error) {
      this.#ticks.delete(tick);
      onThrow(error);
    }
  };
}
