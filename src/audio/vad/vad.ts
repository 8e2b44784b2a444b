// Voice activity detection: the probability that the last 32 ms were speech. pipeline/ derives begin and end of
// speech from these numbers.
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
  /** The probability of speech, 0..1, in a window that was pushed with `endMs`. Reported once per window, in
   *  order: before `push` returns, or up to some milliseconds later together with other streams' windows. */
  onProbability(probability: number, endMs: number): void;
  /** `onProbability` threw and is not called again. Must not throw. */
  onBroken(error: unknown): void;
}

export interface VadStream {
  /** The next VAD_WINDOW_SAMPLES samples (borrowed) of the stream. */
  push(window: Int16Array, endMs: number): void;
  /** The next window (borrowed), which need not be run: nothing is reported for it. */
  skip(window: Int16Array): void;
  /** Clears the state: the next window begins a new stream. */
  reset(): void;
  /** Frees the stream's slot; nothing more is reported. A second call does nothing; `push` and `reset` after it
   *  throw a plain Error, because they would act on another call's slot. */
  close(): void;
}
