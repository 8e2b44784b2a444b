// A speech detector out of a function that judges each window at once.

import type { VadModel } from '../../../src/audio/vad/vad.ts';

export interface WindowJudge {
  /** The probability of speech in the next 256 samples. */
  process(window: Int16Array): number;
  /** A window that need not be heard. */
  skip?(): void;
  /** The next window begins a new stream. */
  reset?(): void;
}

export function vadOf(open: () => WindowJudge): VadModel {
  return {
    kernel: 'portable',
    instructions: 'base',
    open(listener) {
      const judge = open();
      return {
        push: (window, endMs) => listener.onProbability(judge.process(window), endMs),
        skip: () => judge.skip?.(),
        reset: () => judge.reset?.(),
        close: () => undefined,
      };
    },
  };
}
