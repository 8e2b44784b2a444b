// What a far end hears of one call, from the arrival of audio alone: it plays at once what comes and
// without a pause what follows, as a telephone does. Tells how late audio came and where the sound broke
// off. It reads no message; clip-order.ts knows the watermark.

import { ClipOrder } from './clip-order.ts';
import type { Heard } from './heard.ts';

export const FRAME_MS = 20;
/** Audio without a mark that comes this long after the last was played is another utterance. */
const PAUSE_MS = 200;

export class Ear {
  readonly #heard: Heard;
  readonly #leadMs: number;
  readonly #order: ClipOrder;
  /** When everything that came will have been played. */
  #endMs = Number.NEGATIVE_INFINITY;
  /** When the sound set in that has gone on since. */
  #anchorMs = Number.NEGATIVE_INFINITY;
  #arrivedMs = Number.NEGATIVE_INFINITY;
  /** What was not played has been thrown away: what comes continues nothing. */
  #cleared = false;

  /** `clipFrames`: the length of each watermarked clip. */
  constructor(options: { heard: Heard; leadMs: number; clipFrames: readonly number[] }) {
    this.#heard = options.heard;
    this.#leadMs = options.leadMs;
    this.#order = new ClipOrder(options);
  }

  /** When all audio that came has been played; -Infinity before the first. */
  get endMs(): number {
    return this.#endMs;
  }

  /** One message of audio: the marks of its frames (-1 where there is none). True if a new utterance
   *  begins with it after a silence. `goesOn`: it belongs to the utterance of the message before. */
  hear(marks: Int32Array, count: number, nowMs: number, goesOn = false): boolean {
    const slackMs = this.#endMs - nowMs;
    const isSame = goesOn && !this.#cleared;
    const begins = slackMs <= 0 && !isSame && this.#isBegin(marks[0] ?? -1, -slackMs);
    const heard = this.#heard;
    if (begins) {
      this.#anchorMs = nowMs;
      this.#endMs = nowMs;
    } else {
      this.#time(slackMs, nowMs);
    }
    heard.frames += count;
    this.#cleared = false;
    this.#endMs += count * FRAME_MS;
    this.#arrivedMs = nowMs;
    for (let i = 0; i < count; i++) this.#order.follow(marks[i] as number);
    return begins;
  }

  /** The far end is to throw away what it has not played. */
  clear(nowMs: number): void {
    this.#endMs = Math.min(this.#endMs, nowMs);
    this.#cleared = true;
    this.#order.clear();
  }

  #isBegin(mark: number, silentMs: number): boolean {
    if (this.#cleared || this.#order.isFirst(mark)) return true;
    // Within a clip, what comes after a gap belongs to it: it must not pass as a new utterance.
    return !this.#order.open && (mark >= 0 || silentMs >= PAUSE_MS);
  }

  #time(slackMs: number, nowMs: number): void {
    const heard = this.#heard;
    const sinceMs = nowMs - this.#anchorMs;
    if (heard.measuring) {
      // The first frames come at once, as the lead; each of the others when there is room in it.
      heard.lateness.add(Math.min(sinceMs, this.#leadMs - FRAME_MS - slackMs));
      if (sinceMs > this.#leadMs) heard.spacing.add(nowMs - this.#arrivedMs);
    }
    if (slackMs >= 0 || heard.over) return;
    heard.underruns += 1;
    heard.underrunMs -= slackMs;
    this.#endMs = nowMs;
    this.#anchorMs = nowMs;
  }
}
