// Interarrival jitter of the caller's packets, and from it how long the jitter buffer waits for a missing packet.
// No audio passes here. Source: RFC 3550 (6.4.1, A.8).

/** Shortest wait: two packets that follow a missing one arrive within it. */
const WAIT_MS_MIN = 40;
/** Longest wait, as it delays all audio held meanwhile. */
const WAIT_MS_MAX = 120;
/** Wait as a multiple of the jitter. Packets whose delay is spread evenly up to a limit have a third of it as jitter;
 *  the packet's own length passes before a later packet can arrive. Measured: with a factor of 3 no fewer packets came
 *  too late, and all were delayed more. */
const WAITS_PER_JITTER = 2;
const SMOOTHING = 16;

export class ArrivalJitter {
  /** Mean difference between the transit times of two consecutive packets, in milliseconds. */
  jitterMs = 0;
  #wayMs = Number.NaN;

  /** Milliseconds from the first packet after a missing one until the missing one is abandoned. */
  get waitMs(): number {
    return Math.max(WAIT_MS_MIN, Math.min(WAIT_MS_MAX, WAITS_PER_JITTER * this.jitterMs));
  }

  /** Takes a packet with stream time `streamMs` that arrived at `nowMs` of another clock. */
  arrived(streamMs: number, nowMs: number): void {
    const wayMs = nowMs - streamMs;
    const differenceMs = Math.abs(wayMs - this.#wayMs);
    this.#wayMs = wayMs;
    if (!Number.isNaN(differenceMs)) this.jitterMs += (differenceMs - this.jitterMs) / SMOOTHING;
  }

  /** Forgets the last packet: the stream starts again. */
  reset(): void {
    this.#wayMs = Number.NaN;
  }
}
