// In-band DTMF: detects keys in the caller's audio where the provider does not signal them. If the provider signals
// them after all, its signals count from then on, and no key counts twice.

import { FRAME_MS } from '../../audio/pcm.ts';
import { DtmfDetector } from '../../audio/tones/dtmf-detector.ts';

/** Time in which a provider may signal a detected key, which it does at its release. A key held for longer counts
 *  again. */
const SIGNAL_MS_MAX = 3_000;
/** Detected keys that may still be signalled: more than a caller presses in that time. */
const HEARD_MAX = 32;
/** Largest gap between two frames of one tone. */
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

  /** Takes a frame (borrowed) that begins at `atMs` of media time. */
  push(frame: Int16Array, atMs: number): void {
    if (this.#isSignalled) return;
    if (Math.abs(atMs - this.#nextMs) > JUMP_MS) this.#detector.reset();
    this.#nextMs = atMs + FRAME_MS;
    if (atMs < this.#deafUntilMs) this.#detector.reset();
    else this.#detector.push(frame);
  }

  /** Ignores tones up to this media time, which may be the echo of our own. */
  ignoreUntil(ms: number): void {
    this.#deafUntilMs = ms;
  }

  /** Notes a key that the provider signalled at media time `nowMs`. False if it was already detected in the audio. */
  noteSignalled(key: string, nowMs: number): boolean {
    this.#isSignalled = true;
    let first = this.#heard.shift();
    while (first !== undefined && (first.key !== key || nowMs - first.atMs > SIGNAL_MS_MAX)) {
      first = this.#heard.shift();
    }
    return first === undefined;
  }
}
