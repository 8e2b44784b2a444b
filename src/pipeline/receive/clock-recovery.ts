// Clock recovery: maps the caller's stream time to media time despite the drift between both clocks. The stream
// counts by the far end's clock and arrives with jitter; the smallest delay of the last seconds is the true offset
// between both clocks. The offset follows it slowly, one sample per frame. No audio passes here.

import { RATE_HZ } from '../../audio/pcm.ts';

/** The smallest delay is taken over one to two of these periods: long against jitter, short against drift (100
 *  ppm are 0.8 ms in 8 s). */
const WINDOW_MS = 4_000;
/** Packets whose delay stays this far above the offset mean that the network path changed, */
const JUMP_MS = 80;
/** if all packets do so for this long: a burst after a stall arrives in less. */
const JUMP_AFTER_MS = 400;
/** Until then the offset follows at once: the first packets are often late. */
const SETTLE_PACKETS = 50;
/** One sample: inaudible, and 50 times faster than any clock drifts. */
const SLEW_MS = 1_000 / RATE_HZ;

export class ClockRecovery {
  /** Media time minus stream time, in milliseconds. NaN before the first packet. */
  offsetMs = Number.NaN;
  #leastMs = Number.POSITIVE_INFINITY;
  #leastBeforeMs = Number.POSITIVE_INFINITY;
  #windowEndMs = 0;
  #packets = 0;
  #highSinceMs = Number.NaN;
  #highLeastMs = Number.POSITIVE_INFINITY;

  /** A packet that ends at `streamEndMs` of the stream arrived at `nowMs` of media time. */
  arrived(streamEndMs: number, nowMs: number): void {
    const delayMs = nowMs - streamEndMs;
    if (this.#packets === 0) this.#restart(delayMs, nowMs);
    this.#packets++;
    if (nowMs >= this.#windowEndMs) {
      this.#leastBeforeMs = this.#leastMs;
      this.#leastMs = delayMs;
      this.#windowEndMs = nowMs + WINDOW_MS;
    } else if (delayMs < this.#leastMs) {
      this.#leastMs = delayMs;
    }
    if (this.#jumped(delayMs, nowMs)) this.#restart(this.#highLeastMs, nowMs);
    this.#follow(Math.min(this.#leastMs, this.#leastBeforeMs));
  }

  /** The stream starts again: the next packet sets the offset. */
  reset(): void {
    this.#packets = 0;
  }

  #restart(delayMs: number, nowMs: number): void {
    this.offsetMs = delayMs;
    this.#leastMs = delayMs;
    this.#leastBeforeMs = delayMs;
    this.#windowEndMs = nowMs + WINDOW_MS;
    this.#highSinceMs = Number.NaN;
  }

  #jumped(delayMs: number, nowMs: number): boolean {
    if (delayMs - this.offsetMs < JUMP_MS) {
      this.#highSinceMs = Number.NaN;
      return false;
    }
    if (Number.isNaN(this.#highSinceMs)) {
      this.#highSinceMs = nowMs;
      this.#highLeastMs = delayMs;
    }
    this.#highLeastMs = Math.min(this.#highLeastMs, delayMs);
    return nowMs - this.#highSinceMs >= JUMP_AFTER_MS;
  }

  #follow(targetMs: number): void {
    const errorMs = targetMs - this.offsetMs;
    if (this.#packets <= SETTLE_PACKETS || Math.abs(errorMs) > JUMP_MS) this.offsetMs = targetMs;
    else this.offsetMs += Math.max(-SLEW_MS, Math.min(SLEW_MS, errorMs));
  }
}
