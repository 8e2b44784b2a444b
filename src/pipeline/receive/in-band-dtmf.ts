// In-band DTMF: keys on a line whose provider does not signal them are detected in the caller's audio. Should it
// signal them after all, the signals count from then on, and none counts twice.

import { FRAME_MS } from '../../audio/pcm.ts';
import { DtmfDetector } from '../../audio/tones/dtmf-detector.ts';

/** A key is signalled when it is released; by then it was heard. Who holds one for longer is heard once more. */
const SIGNAL_MS_MAX = 3_000;
/** Keys that may still be signalled: more than anybody presses in that time. */
const HEARD_MAX = 32;
/** Frames further apart than this do not belong to one tone. */
const JUMP_MS = 40;

export class InBandDtmf {
  readonly #detector: DtmfDetector;
  #isSignalled = false;
  readonly #heard: { key: string; atMs: number }[] = [];
  #nextMs = 0;
  #deafUntilMs = Number.NEGATIVE_INFINITY;

  /** `onKey` gets each key (0-9 * # A-D) that was not signalled, within `push`. */
  constructor(onKey: (key: string) => void) {
    this.#detector = new DtmfDetector((key) => {
      if (this.#heard.length === HEARD_MAX) this.#heard.shift();
      this.#heard.push({ key, atMs: this.#nextMs });
      onKey(key);
    });
  }

  /** A frame (borrowed) that begins at `atMs` of media time. */
  push(frame: Int16Array, atMs: number): void {
    if (this.#isSignalled) return;
    if (Math.abs(atMs - this.#nextMs) > JUMP_MS) this.#detector.reset();
    this.#nextMs = atMs + FRAME_MS;
    if (atMs < this.#deafUntilMs) this.#detector.reset();
    else this.#detector.push(frame);
  }

  /** Our own tones may come back until then, in media time. */
  ignoreUntil(ms: number): void {
    this.#deafUntilMs = ms;
  }

  /** A key was signalled at `nowMs` of media time. False if it has been heard already. */
  noteSignalled(key: string, nowMs: number): boolean {
    this.#isSignalled = true;
    let first = this.#heard.shift();
    while (first !== undefined && (first.key !== key || nowMs - first.atMs > SIGNAL_MS_MAX)) {
      first = this.#heard.shift();
    }
    return first === undefined;
  }
}
