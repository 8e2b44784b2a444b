// Admission control: decides whether this process accepts new calls, so that the audio of current calls does not
// suffer. Measures the load once a second, estimates the load of one call from it, and adds calls whose load is not
// measured yet. Does not decide how a call is refused.

import type { Log } from '../../log.ts';
import { callLoad, loopDelaySeconds, overloaded, processLoad } from '../../metrics/metrics.ts';
import type { LoadLimits, LoadMeter } from '../../runtime/process-load.ts';
import type { Clock, Timer } from '../../std/clock.ts';

export interface CallCounts {
  /** Calls with audio. */
  talking: number;
  /** Calls with audio, and those in setup. */
  all: number;
}

/** Calls needed for an estimate. With fewer, the load has another cause, such as the start of the process or an
 *  import. */
const CALLS_MIN = 10;
/** Assumed load of a call until enough calls show the real one. Many more are accepted when it is lower. */
const CALL_LOAD = 0.0025;
const CALLS_TO_LEARN = 20;
/** Weight of a new figure in the average, per second: the load follows within two seconds, the cost within ten. */
const LOAD_WEIGHT = 0.5;
const COST_WEIGHT = 0.1;
/** Interval of the timer that measures its own delay, twenty times a second. */
const SAMPLE_MS = 50;
const SAMPLES = 20;
/** Seconds in a row after which new calls are refused, and taken again: one stall of half a second is not enough. */
const LATE_SECONDS = 3;
const CALM_SECONDS = 3;
/** Interval of warnings: at its limit a process switches between accepting and refusing all the time. */
const WARN_MS = 60_000;

export class OverloadControl {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #meter: LoadMeter;
  readonly #limits: LoadLimits;
  readonly #counts: () => CallCounts;
  readonly #onLoop: (busy: number) => void;
  /** Delay of each of the last timers in milliseconds. */
  #delaysMs: number[] = [];
  #timer: Timer | undefined;
  #load = 0;
  #callLoad = CALL_LOAD;
  /** Calls that talked at the last measurements, and those whose load `#load` includes. */
  #talked = [0, 0];
  #felt = 0;
  #isLate = false;
  /** Measurements in a row that contradict `#isLate`. */
  #doubts = 0;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: {
    clock: Clock;
    log: Log;
    meter: LoadMeter;
    limits: LoadLimits;
    counts: () => CallCounts;
    /** Called each second with the share of the event loop's time in which it had work. */
    onLoop: (busy: number) => void;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#meter = options.meter;
    this.#limits = options.limits;
    this.#counts = options.counts;
    this.#onLoop = options.onLoop;
    this.#sampleLater();
  }

  stop(): void {
    this.#timer?.cancel();
  }

  /** Whether the process accepts one more call. */
  get isAccepting(): boolean {
    const { all } = this.#counts();
    if (all < CALLS_MIN) return true;
    if (this.#isLate) return false;
    const coming = Math.max(0, all + 1 - this.#felt);
    return this.#load + coming * this.#callLoad <= this.#limits.load;
  }

  #sampleLater(): void {
    const dueMs = this.#clock.monotonicMs() + SAMPLE_MS;
    this.#timer = this.#clock.after(SAMPLE_MS, () => {
      this.#delaysMs.push(Math.max(0, this.#clock.monotonicMs() - dueMs));
      if (this.#delaysMs.length === SAMPLES) this.#measure();
      this.#sampleLater();
    });
  }

  #measure(): void {
    const { loop, cpu } = this.#meter.sample();
    this.#onLoop(loop);
    const { talking } = this.#counts();
    this.#load += (Math.max(loop, cpu) - this.#load) * LOAD_WEIGHT;
    if (talking >= CALLS_TO_LEARN) {
      this.#callLoad += (this.#load / talking - this.#callLoad) * COST_WEIGHT;
    }
    // The load of younger calls is not in the figures yet.
    this.#felt = Math.min(talking, ...this.#talked);
    this.#talked = [...this.#talked.slice(1), talking];
    const delayMs = secondLargest(this.#delaysMs);
    this.#delaysMs = [];
    this.#judge(delayMs);
    processLoad.set({ part: 'loop' }, loop);
    processLoad.set({ part: 'cpu' }, cpu);
    loopDelaySeconds.set(delayMs / 1_000);
    callLoad.set(this.#callLoad);
    const { isAccepting } = this;
    overloaded.set(isAccepting ? 0 : 1);
    if (!isAccepting) this.#warn(delayMs, talking);
  }

  #judge(delayMs: number): void {
    const limitMs = this.#limits.delayMs;
    const isDoubt = this.#isLate ? delayMs < limitMs / 2 : delayMs > limitMs;
    this.#doubts = isDoubt ? this.#doubts + 1 : 0;
    if (this.#doubts < (this.#isLate ? CALM_SECONDS : LATE_SECONDS)) return;
    this.#isLate = !this.#isLate;
    this.#doubts = 0;
  }

  #warn(delayMs: number, calls: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#warnedAtMs < WARN_MS) return;
    this.#warnedAtMs = nowMs;
    const facts = { calls, load: round(this.#load), delayMs: Math.round(delayMs) };
    this.#log.warn(facts, 'at the limit: new calls are refused');
  }
}

/** The 95th percentile of the timers' delays in one second. */
function secondLargest(delaysMs: readonly number[]): number {
  return delaysMs.toSorted((one, other) => other - one)[1] ?? 0;
}

function round(share: number): number {
  return Math.round(share * 100) / 100;
}
