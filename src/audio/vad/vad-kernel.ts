// What all builds of the voice activity detector share: the network's dimensions, the layout of its weights, and
// the interface through which audio/vad/vad calls them.
// Source: Silero VAD v6 (MIT), the 8 kHz branch; scripts/extract-vad.mjs writes the weights.
//
// The network takes 32 ms: the spectrum of four overlapping segments, four convolutions that end in 128 features, a
// recurrent layer (LSTM) with the state of the stream, and one output.

/** Instruction sets in the order of the kernels' numbers: 'base' is what every processor of the build's target
 *  has. */
export const INSTRUCTIONS = ['base', 'avx2', 'avx512', 'amx'] as const;
export type Instructions = (typeof INSTRUCTIONS)[number];

export interface VadKernel {
  readonly name: 'addon' | 'wasm' | 'portable';
  /** The instruction set in use. */
  readonly instructions: Instructions;
  /** Input of `hear`: BATCH_MAX windows of HEARD_SAMPLES, one after the other, and the slot of each. */
  readonly windows: Int16Array;
  readonly slots: Int32Array;
  /** Output of `hear`: the probability of speech for each window, 0..1. */
  readonly probabilities: Float32Array;
  /** Free slots. */
  readonly free: number[];
  /** Resets the state of `slot` (0..STREAMS_MAX-1) for a new stream. */
  clear(slot: number): void;
  /** Runs the first `count` (1..BATCH_MAX) windows, each of a different slot. */
  hear(count: number): void;
}

/** Streams of a process: more than one core can serve, with slots for calls that are ending. */
export const STREAMS_MAX = 2_048;
/** The weights, 0.8 MB, have mostly left the processor's cache between two batches: larger batches are cheaper.
 *  A thousand streams bring 160 windows in 5 ms. */
export const BATCH_MAX = 256;

/** Samples of a window: 32 ms at 8 kHz. */
export const WINDOW_SAMPLES = 256;
/** The end of the previous window, as context. */
export const CONTEXT_SAMPLES = 32;
export const INPUT_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES;
/** Context, window, and the window's end mirrored. */
export const PADDED_SAMPLES = INPUT_SAMPLES + CONTEXT_SAMPLES;

/** Segments of 128 samples, 64 apart, and the bins of each spectrum. */
export const STFT_FRAMES = 4;
export const STFT_FRAME_SAMPLES = 128;
export const STFT_HOP_SAMPLES = 64;
export const BINS = 65;

/** Outputs of the four convolutions. */
export const WIDTHS = [128, 64, 64, 128] as const;
/** Units of the recurrent layer; each has four gates. */
export const UNITS = 128;

/** Floats of state per stream: the recurrent layer's output and its cell state. */
export const STATE_FLOATS = 2 * UNITS;

/** Floats of one row of each convolution: inputs times taps, padded to a multiple of four. */
export const ROWS = [196, 384, 128, 64] as const;

/** Offset of each part of the weights, in floats. */
export const WEIGHTS = layout({
  basis: 2 * BINS * STFT_FRAME_SAMPLES,
  convolution0: WIDTHS[0] * ROWS[0],
  bias0: WIDTHS[0],
  convolution1: WIDTHS[1] * ROWS[1],
  bias1: WIDTHS[1],
  convolution2: WIDTHS[2] * ROWS[2],
  bias2: WIDTHS[2],
  convolution3: WIDTHS[3] * ROWS[3],
  bias3: WIDTHS[3],
  gates: 4 * UNITS * 2 * UNITS,
  gateBias: 4 * UNITS,
  output: UNITS,
  outputBias: 4,
});

/** All slots, the lowest last, because the last is taken first. */
export function allSlots(): number[] {
  return Array.from({ length: STREAMS_MAX }, (_, i) => STREAMS_MAX - 1 - i);
}

function layout<Part extends string>(lengths: Record<Part, number>): Record<Part | 'end', number> {
  let at = 0;
  const offsets: Record<string, number> = {};
  for (const [part, length] of Object.entries<number>(lengths)) {
    offsets[part] = at;
    at += length;
  }
  offsets['end'] = at;
  return offsets as Record<Part | 'end', number>; // every key of `lengths` was just written
}
