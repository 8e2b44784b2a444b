// Send-ahead: how far ahead of real time the agent's audio is sent: as little as the far end needs, and more while
// this process stalls.

import { FRAME_MS } from '../../audio/pcm.ts';

/** Ticks that are a little late do not send an extra frame. */
const SLACK_MS = FRAME_MS / 2;

export interface SendAheadOptions {
  /** The smallest lead while there is audio, and the largest. */
  aimMs: number;
  maxMs: number;
  /** Both grow by as much as this process stalled lately, up to this. */
  stallMsMax: number;
  /** Audio that is sent at once, a whole number of frames: larger steps are cheaper. The lead exceeds its target
   *  by up to this much. */
  stepMs: number;
}

export class SendAhead {
  /** The largest lead ever. */
  readonly maxMs: number;
  readonly stepMs: number;
  /** From a tick to the next. */
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

  /** Audio is sent when the lead is below this. In steps: early enough to keep the target until the next tick;
   *  frame by frame, where a clear is slow or missing: half a frame below the target rather than above. */
  get leastMs(): number {
    return this.#aimMs + this.#extraMs + (this.isStepped ? this.strideMs : -SLACK_MS);
  }

  /** A frame is sent as long as the lead is below this: with the frame, it is at most the largest lead. */
  get mostMs(): number {
    return Math.min(this.#calmMsMax + this.#extraMs, this.leastMs + this.stepMs) - FRAME_MS;
  }

  /** `strideMs`: from a tick to the next. `stallMs`: the longest recent stall of the event loop: after another such,
   *  the far end still has the smallest lead. */
  tick(strideMs: number, stallMs: number): void {
    this.strideMs = strideMs;
    this.#extraMs = Math.min(this.#stallMsMax, stallMs);
  }
}
