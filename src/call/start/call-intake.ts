// Whether this process accepts new calls, and how many it has. It accepts none while it drains, or while its load is so
// high that another call would harm the audio of the current ones (overload control): the load is measured once a
// second, that of one call is estimated from it, and calls whose load is not measured yet are added.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { callLoad, loopDelaySeconds, overloaded, processLoad } from '../../metrics/metrics.ts';
import type { LoadLimits, LoadMeter } from '../../runtime/process-load.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { CallRegistry } from '../session/call-registry.ts';

/** Interval at which a draining process checks whether its calls are over. */
const DRAIN_CHECK_MS = 100;

interface CallIntakeDeps {
  registry: CallRegistry;
  /** Called each second with the share of time in which the event loop had work. */
  onLoop: (busy: number) => void;
  /** Load meter and limits; undefined: calls are accepted at any load. */
  load: { meter: LoadMeter; limits: LoadLimits } | undefined;
  clock: Clock;
  log: Log;
}

export class CallIntake {
  /** Calls that PBXs have announced and that are neither connected nor refused yet. */
  pbxCalls: () => number = () => 0;
  readonly #deps: CallIntakeDeps;
  readonly #overload: OverloadControl | undefined;
  #draining = false;
  /** Calls that are being placed, or whose webhook is being answered. */
  #starting = 0;

  constructor(deps: CallIntakeDeps) {
    this.#deps = deps;
    const { registry, load } = deps;
    if (load === undefined) return;
    const counts = () => ({ talking: registry.activeCalls, all: this.#all });
    this.#overload = new OverloadControl({ ...deps, ...load, counts });
  }

  /** Number of calls that ring, wait for their media or are connected. */
  get calls(): number {
    const { activeCalls, pendingCalls } = this.#deps.registry;
    return activeCalls + pendingCalls + this.#starting;
  }

  get #all(): number {
    return this.calls + this.pbxCalls();
  }

  get isDraining(): boolean {
    return this.#draining;
  }

  /** Why no new call is accepted now; undefined if calls are accepted. */
  refusal(): GatewayError | undefined {
    if (this.#draining) return new GatewayError('GATEWAY_DRAINING');
    return this.#overload?.isAccepting === false
      ? new GatewayError('GATEWAY_OVERLOADED')
      : undefined;
  }

  /** Runs `work`, the setup of a call, which counts from its start. */
  async counted<T>(work: () => Promise<T>): Promise<T> {
    this.#starting += 1;
    try {
      return await work();
    } finally {
      this.#starting -= 1;
    }
  }

  /** Accepts no new call from now on; settles when the running ones are over, or after `limitMs`. */
  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    const { clock, log, registry } = this.#deps;
    const deadline = clock.monotonicMs() + limitMs;
    log.info({ calls: registry.activeCalls }, 'draining');
    while (this.#all > 0) {
      if (clock.monotonicMs() >= deadline) break;
      await new Promise<void>((resolve) => clock.after(DRAIN_CHECK_MS, resolve));
    }
  }

  stop(): void {
    this.#overload?.stop();
  }
}

interface CallCounts {
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

/** Admission control by load. Does not decide how a call is refused. */
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
