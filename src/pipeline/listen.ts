// Voice activity of the caller.

/** One call's detector. */
export interface VadStream {
  /** 256 samples (32 ms at 8 kHz); borrowed. Returns the probability of speech, 0..1. */
  process(window: Int16Array): number;
  reset(): void;
  close(): void;
}

export interface VadModel {
  open(): VadStream;
}
