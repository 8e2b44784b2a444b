// Delay of the event loop in two windows, the last one and the current one. A window ends at the first request after a
// minute.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import type { Clock } from '../../std/clock.ts';

/** Interval of the measurement; every measured value includes it. */
const RESOLUTION_MS = 10;
const WINDOW_MS_MIN = 60_000;
const NS_PER_MS = 1e6;

export interface EventLoopLag {
  p95Ms: number;
  maxMs: number;
}

export class EventLoopLagMeter {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #clock: Clock;
  #lastWindow: EventLoopLag = { p95Ms: 0, maxMs: 0 };
  #windowFrom: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#histogram.enable();
    this.#windowFrom = clock.monotonicMs();
  }

  /** The worse of the two windows, in milliseconds; zero if the loop has no delay. */
  read(): EventLoopLag {
    const window = this.#current();
    const figures = {
      p95Ms: Math.max(window.p95Ms, this.#lastWindow.p95Ms),
      maxMs: Math.max(window.maxMs, this.#lastWindow.maxMs),
    };
    if (this.#clock.monotonicMs() - this.#windowFrom >= WINDOW_MS_MIN) this.#nextWindow(window);
    return figures;
  }

  close(): void {
    this.#histogram.disable();
  }

  #nextWindow(ended: EventLoopLag): void {
    this.#lastWindow = ended;
    this.#histogram.reset();
    this.#windowFrom = this.#clock.monotonicMs();
  }

  #current(): EventLoopLag {
    return {
      p95Ms: lateMs(this.#histogram.percentile(95)),
      maxMs: lateMs(this.#histogram.max),
    };
  }
}

/** Delay beyond the interval, in milliseconds to a thousandth. */
function lateMs(measuredNs: number): number {
  return Math.max(0, Math.round((measuredNs / NS_PER_MS - RESOLUTION_MS) * 1_000) / 1_000);
}
