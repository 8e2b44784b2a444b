// How fast uploads are received: each megabyte takes the event loop some 5 ms, which the requests of others wait for. A
// piece that came too early holds up the next one, so that TCP slows the client down; nothing is refused.

import type { Clock } from '../../std/clock.ts';

/** Bytes a second. A contact file of 200,000 rows takes a second and a half. */
const OF_ORGANIZATION = 4_194_304;
const IN_ALL = 2 * OF_ORGANIZATION;
/** Received at once after a pause: most recordings. */
const BURST_BYTES = 1_048_576;
/** Shorter waits are added up: a timer takes time too. */
const WAIT_MS_MIN = 20;
/** Organizations that are remembered; those that owe nothing go. */
const KNOWN_MAX = 1_000;

export class UploadPace {
  readonly #clock: Clock;
  readonly #all = new Pace(IN_ALL);
  readonly #organizations = new Map<string, Pace>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the next piece may be received. */
  async received(organization: string, bytes: number): Promise<void> {
    const now = this.#clock.monotonicMs();
    const own = this.#organizations.get(organization) ?? new Pace(OF_ORGANIZATION);
    this.#organizations.set(organization, own);
    const waitMs = Math.max(own.waitMsAfter(bytes, now), this.#all.waitMsAfter(bytes, now));
    if (this.#organizations.size > KNOWN_MAX) this.#forget(now);
    if (waitMs < WAIT_MS_MIN) return;
    await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
  }

  #forget(now: number): void {
    for (const [name, pace] of this.#organizations) {
      if (pace.isIdle(now)) this.#organizations.delete(name);
    }
  }
}

/** Of one organization, or of all. */
class Pace {
  readonly #bytesPerMs: number;
  /** Until then everything that was received has its time. */
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(bytesPerSecond: number) {
    this.#bytesPerMs = bytesPerSecond / 1_000;
  }

  isIdle(nowMs: number): boolean {
    return this.#untilMs <= nowMs - this.#burstMs;
  }

  get #burstMs(): number {
    return BURST_BYTES / this.#bytesPerMs;
  }

  waitMsAfter(bytes: number, nowMs: number): number {
    const sinceMs = Math.max(this.#untilMs, nowMs - this.#burstMs);
    this.#untilMs = sinceMs + bytes / this.#bytesPerMs;
    return this.#untilMs - nowMs;
  }
}
