// How fast the machine works at the moment, so that a wait lasts in proportion: beside other work a gateway starts and
// speaks as correctly as without it, but later. Measured while `watch` is on; before it the machine counts as free.

import { type Clock, systemClock, type Timer } from '../../src/std/clock.ts';

/** Processor time of one measurement, long enough that other processes have their turns meanwhile. */
const WORK_MS = 50;
/** A hundredth of a core. */
const MEASURE_MS = 5_000;
/** Measurements that count: the slowest of half a minute. */
const KEPT_MAX = 6;
/** Factor from which a machine is slow for those who wait. */
export const SLOW_MIN = 2.5;
const LOOK_MS = 200;

export class MachinePace {
  /** Called with each measurement. */
  readonly listeners = new Set<(slowness: number) => void>();
  /** Called when the machine is slow, and each time that it becomes twice as slow. */
  onSlow: (slowness: number) => void = () => undefined;
  /** The largest factor so far. */
  worst = 1;
  readonly #clock: Clock;
  readonly #measure: () => number;
  #measured: number[] = [];
  #said = 1;
  #timer: Timer | undefined;

  /** `measure`: wall-clock time of some work over its processor time. */
  constructor(clock: Clock = systemClock, measure = measuredSlowness) {
    this.#clock = clock;
    this.#measure = measure;
  }

  /** Factor by which work takes longer than on a free machine; at least 1. */
  get slowness(): number {
    return Math.max(1, ...this.#measured);
  }

  get isSlow(): boolean {
    return this.slowness >= SLOW_MIN;
  }

  /** `ms` of a free machine as they are at the moment, in whole milliseconds. */
  scaled(ms: number): number {
    return Math.round(ms * this.slowness);
  }

  /** Measures from now on. Each measurement keeps the process busy: one with audio to pass on gets those of another. */
  watch(): void {
    this.#timer?.cancel();
    this.note(this.#measure());
    this.#timer = this.#clock.after(MEASURE_MS, () => this.watch());
  }

  /** Takes a measurement of this or another process. */
  note(measured: number): void {
    this.#measured = [...this.#measured, measured].slice(-KEPT_MAX);
    this.worst = Math.max(this.worst, this.slowness);
    for (const listener of this.listeners) listener(measured);
    if (!this.isSlow || this.slowness < 2 * this.#said) return;
    this.#said = this.slowness;
    this.onSlow(this.slowness);
  }

  /** A wait of `ms` on a free machine that begins now. `isOver` is asked again and again. */
  wait(ms: number): { readonly isOver: boolean } {
    const fromMs = this.#clock.monotonicMs();
    const isOver = (): boolean => this.#clock.monotonicMs() - fromMs >= this.scaled(ms);
    return {
      get isOver() {
        return isOver();
      },
    };
  }

  /** Settles as `work` does, or rejects with `late` after a wait of `ms`. */
  within<T>(ms: number, late: string, work: Promise<T>): Promise<T> {
    const wait = this.wait(ms);
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (wait.isOver) reject(new Error(late));
        else timer = this.#clock.after(LOOK_MS, look);
      };
      let timer = this.#clock.after(LOOK_MS, look);
      work.then(resolve, reject).finally(() => timer.cancel());
    });
  }
}

/** The pace of the machine, as this process measures or receives it. */
export const machine = new MachinePace();

function measuredSlowness(): number {
  const begin = process.cpuUsage();
  const fromMs = performance.now();
  for (;;) {
    const { user, system } = process.cpuUsage(begin);
    const workedMs = (user + system) / 1_000;
    if (workedMs >= WORK_MS) return (performance.now() - fromMs) / workedMs;
  }
}
