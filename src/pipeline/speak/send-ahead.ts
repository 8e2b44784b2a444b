// Send-ahead: how far ahead of real time the agent's audio is sent: as little as the far end needs, and more for a
// while after this process was late.

import { FRAME_MS } from '../../audio/pcm.ts';

/** Extra lead after a stall shrinks by this much per tick: 50 ms in a second. */
const DECAY_MS = 1;
/** Ticks that are a little late do not send an extra frame. */
const SLACK_MS = FRAME_MS / 2;

export interface SendAheadOptions {
  /** The smallest lead while there is audio, and the largest ever. */
  aimMs: number;
  maxMs: number;
  /** Audio that is sent at once, a whole number of frames: larger steps are cheaper. The lead exceeds its target
   *  by up to this much. */
  stepMs: number;
}

export class SendAhead {
  readonly maxMs: number;
  readonly stepMs: number;
  /** From a tick to the next. */
  strideMs = FRAME_MS;
  readonly #aimMs: number;
  #extraMs = 0;
  #tickMs = Number.NaN;

  constructor({ aimMs, maxMs, stepMs }: SendAheadOptions) {
    this.stepMs = Math.max(FRAME_MS, stepMs);
    this.#aimMs = Math.max(FRAME_MS, aimMs);
    this.maxMs = Math.max(this.#aimMs, maxMs);
  }

  /** Whether audio is sent in steps, and so in longer strides as well. */
  get isStepped(): boolean {
    return this.stepMs > FRAME_MS;
  }

  /** Audio is sent when the lead is below this. In steps: early enough to keep the target until the next tick;
   *  frame by frame, where a clear is slow or missing: half a frame below the target rather than above. */
  get leastMs(): number {
    return this.#ms + (this.isStepped ? this.strideMs : -SLACK_MS);
  }

  /** A frame is sent as long as the lead is below this: with the frame, it is at most the largest lead. */
  get mostMs(): number {
    return Math.min(this.maxMs, this.leastMs + this.stepMs) - FRAME_MS;
  }

  get #ms(): number {
    return Math.min(this.maxMs, this.#aimMs + this.#extraMs);
  }

  /** `strideMs`: from a tick to the next. A late tick shows a stall: the lead grows a little for the next
   *  seconds. */
  tick(nowMs: number, strideMs: number): void {
    const lateMs = nowMs - this.#tickMs - strideMs;
    this.#tickMs = nowMs;
    this.strideMs = strideMs;
    this.#extraMs = Math.max(0, this.#extraMs - DECAY_MS);
    if (lateMs > FRAME_MS) {
      this.#extraMs = Math.min(this.maxMs - this.#aimMs, this.#extraMs + lateMs);
    }
  }
}
