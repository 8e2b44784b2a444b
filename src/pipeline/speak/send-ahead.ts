// Send-ahead: the lead of the agent's audio over real time, as small as the far end allows, and larger while this
// process stalls.

import { FRAME_MS } from '../../audio/pcm.ts';

/** Lateness of a tick that does not cause an extra frame. */
const SLACK_MS = FRAME_MS / 2;

export interface SendAheadOptions {
  /** The smallest lead while there is audio, and the largest. */
  aimMs: number;
  maxMs: number;
  /** Largest increase of both by recent stalls of this process. */
  stallMsMax: number;
  /** Audio that is sent at once, a whole number of frames: larger steps are cheaper. The lead exceeds its target by up
   *  to this much. */
  stepMs: number;
}

export class SendAhead {
  /** The largest lead at any time. */
  readonly maxMs: number;
  readonly stepMs: number;
  /** Time from a tick to the next. */
  strideMs = FRAME_MS;
  readonly #aimMs: number;
  readonly #calmMsMax: number;
  readonly #stallMsMax: number;
  #extraMs = 0;

  constructor({ aimMs, maxMs, stallMsMax, stepMs }: SendAheadOptions) {
    this.stepMs = Math.max(FRAME_MS, stepMs);
    this.#aimMs = Math.max(FRAME_MS, aimMs);
    this.#calmMsMax = Math.max(this.#aimMs, maxMs);
    this.#stallMsMax = stallMsMax;
    this.maxMs = this.#calmMsMax + stallMsMax;
  }

  /** Whether audio is sent in steps, and so in longer strides as well. */
  get isStepped(): boolean {
    return this.stepMs > FRAME_MS;
  }

  /** Lead below which audio is sent. In steps: early enough to keep the target until the next tick. Frame by frame,
   *  where a clear is slow or missing: half a frame below the target rather than above. */
  get leastMs(): number {
    return this.#aimMs + this.#extraMs + (this.isStepped ? this.strideMs : -SLACK_MS);
  }

  /** Lead below which a frame is sent: with the frame, it is at most the largest lead. */
  get mostMs(): number {
    return Math.min(this.#calmMsMax + this.#extraMs, this.leastMs + this.stepMs) - FRAME_MS;
  }

  /** Takes a tick. `strideMs`: time from a tick to the next. `stallMs`: longest recent stall of the event loop, after
   *  another of which the far end still has the smallest lead. */
  tick(strideMs: number, stallMs: number): void {
    this.strideMs = strideMs;
    this.#extraMs = Math.min(this.#stallMsMax, stallMs);
  }
}
