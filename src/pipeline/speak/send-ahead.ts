// Send-ahead: how far ahead of real time the agent's audio is sent: as little as the far end needs, and for a while more
// after this process was late.

import { FRAME_MS } from '../../audio/pcm.ts';

/** Extra lead after a stall is given up by this much a tick: 50 ms in a second. */
const DECAY_MS = 1;
/** Ticks that are a little late do not send a frame more. */
const SLACK_MS = FRAME_MS / 2;

export interface SendAheadOptions {
  /** The least that is ahead while there is audio, and the most ever. */
  aimMs: number;
  maxMs: number;
  /** Audio that goes out at once, a whole number of frames: more is cheaper. The lead is up to this much
   *  longer than its aim. */
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

  /** Whether audio goes out in steps, and so in longer strides as well. */
  get isStepped(): boolean {
    return this.stepMs > FRAME_MS;
  }

  /** With less than this ahead, audio is sent. In steps: early enough to keep the aim until the next tick;
   *  frame by frame, where a clear is slow or missing, half a frame short of it rather than beyond. */
  get leastMs(): number {
    return this.#ms + (this.isStepped ? this.strideMs : -SLACK_MS);
  }

  /** A frame is sent as long as less than this is ahead: with it, no more than the greatest lead. */
  get mostMs(): number {
    return Math.min(this.maxMs, this.leastMs + this.stepMs) - FRAME_MS;
  }

  get #ms(): number {
    return Math.min(this.maxMs, this.#aimMs + this.#extraMs);
  }

  /** `strideMs`: from a tick to the next. A late one shows that the process stalls: a little more lead for the
   *  next seconds. */
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
