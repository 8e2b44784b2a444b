// Voice activity detection: how likely the last 32 ms were speech. What counts as the begin or the end of
// speech is decided in pipeline/, from these numbers.
// Source: Silero VAD v6 (MIT; native/NOTICE.md), its 8 kHz network, by our own forward pass.

import { type VadKernel, WINDOW_SAMPLES } from './vad-kernel.ts';

/** Samples of one window: 32 ms at 8 kHz. */
export const VAD_WINDOW_SAMPLES = WINDOW_SAMPLES;

export interface VadModel {
  readonly kernel: VadKernel['name'];
  readonly instructions: VadKernel['instructions'];
  /** A detector for one new stream. Throws QUEUE_FULL when STREAMS_MAX (2,048) are open. */
  open(listener: VadListener): VadStream;
}

export interface VadListener {
  /** The probability of speech, 0..1, in a window that was pushed with `endMs`. Reported once for each, in their
   *  order: before `push` returns, or up to some milliseconds later together with other streams'. */
  onProbability(probability: number, endMs: number): void;
  /** `onProbability` threw: it is called no more. Must not throw. */
  onBroken(error: unknown): void;
}

export interface VadStream {
  /** The next VAD_WINDOW_SAMPLES (borrowed) of the stream. */
  push(window: Int16Array, endMs: number): void;
  /** The next window (borrowed), which need not be run. Nothing is reported of it. */
  skip(window: Int16Array): void;
  /** Forgets what was heard: the next window begins a new stream. */
  reset(): void;
  /** Gives the stream's memory to the next one; nothing more is reported. A second call does nothing; `push` and
   *  `reset` after it throw a plain Error, for they would act on another call. */
  close(): void;
}
