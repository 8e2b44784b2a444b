// What the far ends of a load measurement heard, all calls together.

import { Histogram } from '../figures/histogram.ts';

/** Where several calls put what they heard. Times are milliseconds. */
export interface Heard {
  /** Only what comes while this is true is counted in the histograms; counters count always. */
  measuring: boolean;
  /** Calls are being hung up, all at once: what still comes is not judged. */
  over: boolean;
  /** How much later audio came than a gateway sends it that stays `leadMs` ahead. */
  readonly lateness: Histogram;
  /** Between two messages of audio in the middle of an utterance. */
  readonly spacing: Histogram;
  frames: number;
  markedFrames: number;
  underruns: number;
  /** Silence that underruns were heard as. */
  underrunMs: number;
  lostFrames: number;
  /** Out of their order, or twice. */
  reorderedFrames: number;
}

export function heardNothing(): Heard {
  return {
    measuring: false,
    over: false,
    lateness: new Histogram(),
    spacing: new Histogram(),
    frames: 0,
    markedFrames: 0,
    underruns: 0,
    underrunMs: 0,
    lostFrames: 0,
    reorderedFrames: 0,
  };
}
