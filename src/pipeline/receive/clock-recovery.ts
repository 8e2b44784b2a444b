// Clock recovery: maps the caller's stream time to media time despite the drift between both clocks. The far end's
// clock counts the stream, which arrives with jitter; the smallest delay of the last seconds is the true offset, which
// is followed by one sample per frame.

import { RATE_HZ } from '../../audio/pcm.ts';

/** Period of the smallest delay, which is taken over one to two of them: long against jitter, short against drift (100
 *  ppm are 0.8 ms in 8 s). */
const WINDOW_MS = 4_000;
/** Delay above the offset that means that the network path changed. */
const JUMP_MS = 80;
/** Time for which all packets must have it: a burst after a stall arrives in less. */
const JUMP_AFTER_MS = 400;
/** Packets during which the offset follows at once: the first ones are often late. */
const SETTLE_PACKETS = 50;
/** Largest error of the offset that is left alone where the arrivals jitter: there the smallest delay varies from window
 *  to window, and following it would repeat or drop a sample in each frame. Measured with packets in order, each up to
 *  120 ms late: the audio of a stream correlates with what was said at 0.97, and at 0.84 without. */
const TOLERANCE_MS_MAX = 20;
/** Spread of the delays as a multiple of the jitter: of delays that are spread evenly, the jitter is a third. */
const SPREAD_PER_JITTER = 3;
/** Change of the offset per frame: one sample, which is inaudible, and 50 times faster than any clock drifts. */
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

  /** Takes a packet that ends at `streamEndMs` of the stream and arrived at `nowMs` of media time. `jitterMs`: the
   *  jitter of arrivals that have no timestamps, else 0. */
  arrived(streamEndMs: number, nowMs: number, jitterMs: number): void {
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
    this.#follow(Math.min(this.#leastMs, this.#leastBeforeMs), jitterMs);
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

  #follow(targetMs: number, jitterMs: number): void {
    const errorMs = targetMs - this.offsetMs;
    if (this.#packets <= SETTLE_PACKETS || Math.abs(errorMs) > JUMP_MS) this.offsetMs = targetMs;
    else if (Math.abs(errorMs) > Math.min(TOLERANCE_MS_MAX, SPREAD_PER_JITTER * jitterMs))
      this.offsetMs += Math.max(-SLEW_MS, Math.min(SLEW_MS, errorMs));
  }
}
