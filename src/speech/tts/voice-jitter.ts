// Jitter of a service's voice: how late its audio arrives within utterances, over all calls of the process, and the
// resulting start cushion (extra buffering at the beginning of an utterance). It keeps no audio.

import { samplesToMs } from '../../audio/pcm.ts';
import type { Clock } from '../../std/clock.ts';

/** Utterances count for one to two windows. */
const WINDOW_MS = 30_000;
/** Step of the histogram: one frame. */
const STEP_MS = 20;
/** Longest cushion. Later audio follows a pause of the service, which no cushion can cover. */
const CUSHION_MS_MAX = 200;
/** Share of utterances that may be later than the cushion. With fewer than a hundred, one of them, so that a single
 *  late one does not delay all calls. */
const UNCOVERED = 0.01;
const STEPS = CUSHION_MS_MAX / STEP_MS + 1;

/** Histogram of utterances by their greatest lateness in steps. Index 0: never late. */
type Window = number[];

export class VoiceJitter {
  readonly #clock: Clock;
  #current = emptyWindow();
  #previous = emptyWindow();
  #windowAt: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#windowAt = clock.monotonicMs();
  }

  /** Cushion with which all audio would have arrived in time. Milliseconds; 0 for a service that is always ahead. */
  get cushionMs(): number {
    this.#turn();
    let total = 0;
    for (let step = 0; step < STEPS; step++) total += this.#at(step);
    let uncovered = Math.max(1, Math.floor(total * UNCOVERED));
    for (let step = STEPS - 1; step > 0; step--) {
      uncovered -= this.#at(step);
      if (uncovered < 0) return step * STEP_MS;
    }
    return 0;
  }

  begin(): UtteranceJitter {
    this.#turn();
    return new UtteranceJitter(this.#clock, this.#current);
  }

  #at(step: number): number {
    return (this.#current[step] as number) + (this.#previous[step] as number);
  }

  #turn(): void {
    const ageMs = this.#clock.monotonicMs() - this.#windowAt;
    if (ageMs < WINDOW_MS) return;
    this.#previous = ageMs < 2 * WINDOW_MS ? this.#current : emptyWindow();
    this.#current = emptyWindow();
    this.#windowAt += ageMs;
  }
}

/** Measures one utterance or request. */
export class UtteranceJitter {
  readonly #clock: Clock;
  readonly #window: Window;
  /** Time at which all received audio would have been played. Undefined before the first. */
  #endAt: number | undefined;
  #step = 0;
  #isNewText = false;

  constructor(clock: Clock, window: Window) {
    this.#clock = clock;
    this.#window = window;
  }

  /** Notes a new text, for which the next audio may have waited. */
  text(): void {
    this.#isNewText = true;
  }

  audio(samples: number): void {
    const now = this.#clock.monotonicMs();
    if (this.#endAt === undefined) {
      this.#count(0, 1);
      this.#endAt = now;
    }
    const lateMs = now - this.#endAt;
    if (lateMs > 0) {
      if (this.#isNewText || lateMs > CUSHION_MS_MAX) this.#endAt = now;
      else this.#late(Math.ceil(lateMs / STEP_MS));
    }
    this.#isNewText = false;
    this.#endAt += samplesToMs(samples);
  }

  #late(step: number): void {
    if (step <= this.#step) return;
    this.#count(this.#step, -1);
    this.#step = step;
    this.#count(step, 1);
  }

  #count(step: number, by: number): void {
    this.#window[step] = (this.#window[step] as number) + by;
  }
}

function emptyWindow(): Window {
  return Array.from({ length: STEPS }, () => 0);
}
