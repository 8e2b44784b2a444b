// Interarrival jitter of the caller's packets, and from it how long the jitter buffer waits for one that is missing.
// No audio passes here. Source: RFC 3550 (6.4.1, A.8).

/** Less shows nothing: two packets that follow a missing one come within it. */
const WAIT_MS_MIN = 40;
/** More would be heard as delay of all that is held meanwhile. */
const WAIT_MS_MAX = 120;
/** Packets that are evenly late by up to a limit have a third of it as jitter; of the limit a packet's length passes
 *  before one that follows can come at all. Measured: with 3 no fewer packets came too late, and all came later. */
const WAITS_PER_JITTER = 2;
const SMOOTHING = 16;

export class ArrivalJitter {
  /** Mean difference between the way times of two packets that come one after the other, in milliseconds. */
  jitterMs = 0;
  #wayMs = Number.NaN;

  /** Milliseconds from the first packet behind a missing one until that is given up. */
  get waitMs(): number {
    return Math.max(WAIT_MS_MIN, Math.min(WAIT_MS_MAX, WAITS_PER_JITTER * this.jitterMs));
  }

  /** A packet that was said at `streamMs` of the stream arrived at `nowMs` of another clock. */
  arrived(streamMs: number, nowMs: number): void {
    const wayMs = nowMs - streamMs;
    const differenceMs = Math.abs(wayMs - this.#wayMs);
    this.#wayMs = wayMs;
    if (!Number.isNaN(differenceMs)) this.jitterMs += (differenceMs - this.jitterMs) / SMOOTHING;
  }

  /** The stream begins anew. */
  reset(): void {
    this.#wayMs = Number.NaN;
  }
}
