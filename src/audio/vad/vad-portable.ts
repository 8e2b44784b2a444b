// The forward pass of the voice activity detector in plain TypeScript: the reference for the compiled builds, and
// the fallback where none of them is present. About 0.3 ms a window, a hundred times the addon's time.

import {
  allSlots,
  BATCH_MAX,
  BINS,
  CONTEXT_SAMPLES,
  INPUT_SAMPLES,
  PADDED_SAMPLES,
  ROWS,
  STATE_FLOATS,
  STFT_FRAME_SAMPLES,
  STFT_FRAMES,
  STFT_HOP_SAMPLES,
  STREAMS_MAX,
  UNITS,
  type VadKernel,
  WEIGHTS,
  WIDTHS,
} from './vad-kernel.ts';

/** A matrix in the weights: `rows` outputs of `columns` inputs each (a multiple of four). */
interface Matrix {
  readonly at: number;
  readonly rows: number;
  readonly columns: number;
  /** Offset of the biases. Without biases the outputs are not rectified either. */
  readonly bias?: number;
  readonly rectified?: boolean;
}

const basis: Matrix = { at: WEIGHTS.basis, rows: 2 * BINS, columns: STFT_FRAME_SAMPLES };
const recurrent: Matrix = {
  at: WEIGHTS.gates,
  rows: 4 * UNITS,
  columns: 2 * UNITS,
  bias: WEIGHTS.gateBias,
};
const convolution0 = convolution(0);
const convolution1 = convolution(1);
const convolution2 = convolution(2);
const convolution3 = convolution(3);

/** `weights` as scripts/extract-vad.mjs writes them (WEIGHTS has the layout). */
export function portableVadKernel(weights: Float32Array): VadKernel {
  const states = new Float32Array(STREAMS_MAX * STATE_FLOATS);
  const network = new Network(weights);
  const windows = new Int16Array(BATCH_MAX * INPUT_SAMPLES);
  const slots = new Int32Array(BATCH_MAX);
  const probabilities = new Float32Array(BATCH_MAX);
  return {
    name: 'portable',
    instructions: 'base',
    windows,
    slots,
    probabilities,
    free: allSlots(),
    clear: (slot) => {
      states.fill(0, slot * STATE_FLOATS, (slot + 1) * STATE_FLOATS);
    },
    hear(count) {
      for (let nth = 0; nth < count; nth++) {
        const state = (slots[nth] as number) * STATE_FLOATS;
        probabilities[nth] = network.hear(windows, nth * INPUT_SAMPLES, states, state);
      }
    },
  };
}

/** The work buffers of one window. Views are made once, so that no window allocates. */
class Network {
  private readonly weights: Float32Array;
  private readonly padded = new Float32Array(PADDED_SAMPLES);
  private readonly spectrum = new Float32Array(2 * BINS);
  // Columns of zeros at both ends are the convolutions' padding; the three floats after them complete a row.
  private readonly magnitudes = new Float32Array((STFT_FRAMES + 2) * BINS + 3);
  private readonly hidden0 = new Float32Array((STFT_FRAMES + 2) * WIDTHS[0]);
  private readonly hidden1 = new Float32Array(2 * WIDTHS[1]);
  private readonly hidden2 = new Float32Array(WIDTHS[2]);
  private readonly features = new Float32Array(2 * UNITS);
  private readonly gates = new Float32Array(4 * UNITS);

  private readonly stretches = [0, 1, 2, 3].map((i) => this.padded.subarray(i * STFT_HOP_SAMPLES));
  private readonly inputs0 = [0, 1, 2, 3].map((i) => this.magnitudes.subarray(i * BINS));
  private readonly outputs0 = [1, 2, 3, 4].map((i) => this.hidden0.subarray(i * WIDTHS[0]));
  private readonly inputs1 = [0, 2].map((i) => this.hidden0.subarray(i * WIDTHS[0]));
  private readonly outputs1 = [0, 1].map((i) => this.hidden1.subarray(i * WIDTHS[1]));

  constructor(weights: Float32Array) {
    this.weights = weights;
  }

  /** Runs the window at `from`, with its context, for the stream whose state is at `state`; returns the
   *  probability of speech. */
  hear(windows: Int16Array, from: number, states: Float32Array, state: number): number {
    this.analyse(windows, from);
    this.convolve();
    return this.remember(states, state);
  }

  /** The segments' magnitudes over context, window, and the mirrored end of the window. */
  private analyse(windows: Int16Array, from: number): void {
    const { padded, spectrum, magnitudes } = this;
    for (let i = 0; i < INPUT_SAMPLES; i++) padded[i] = (windows[from + i] as number) / 32_768;
    for (let i = 0; i < CONTEXT_SAMPLES; i++) {
      padded[INPUT_SAMPLES + i] = padded[INPUT_SAMPLES - 2 - i] as number;
    }
    for (let i = 0; i < STFT_FRAMES; i++) {
      multiply(this.weights, basis, this.stretches[i] as Float32Array, spectrum);
      for (let bin = 0; bin < BINS; bin++) {
        const real = spectrum[bin] as number;
        const imaginary = spectrum[BINS + bin] as number;
        magnitudes[(i + 1) * BINS + bin] = Math.sqrt(real * real + imaginary * imaginary);
      }
    }
  }

  private convolve(): void {
    const { weights, inputs0, outputs0, inputs1, outputs1 } = this;
    for (let i = 0; i < STFT_FRAMES; i++) {
      multiply(weights, convolution0, inputs0[i] as Float32Array, outputs0[i] as Float32Array);
    }
    for (let i = 0; i < 2; i++) {
      multiply(weights, convolution1, inputs1[i] as Float32Array, outputs1[i] as Float32Array);
    }
    multiply(weights, convolution2, this.hidden1, this.hidden2);
    multiply(weights, convolution3, this.hidden2, this.features);
  }

  /** One step of the recurrent layer; returns the probability of speech. */
  private remember(states: Float32Array, state: number): number {
    const { weights, features, gates } = this;
    const output = state;
    const memory = output + UNITS;
    for (let i = 0; i < UNITS; i++) features[UNITS + i] = states[output + i] as number;
    multiply(weights, recurrent, features, gates);
    let sum = weights[WEIGHTS.outputBias] as number;
    for (let i = 0; i < UNITS; i++) {
      const kept = logistic(gates[UNITS + i] as number) * (states[memory + i] as number);
      const taken = logistic(gates[i] as number) * Math.tanh(gates[2 * UNITS + i] as number);
      const told = logistic(gates[3 * UNITS + i] as number) * Math.tanh(kept + taken);
      states[memory + i] = kept + taken;
      states[output + i] = told;
      if (told > 0) sum += (weights[WEIGHTS.output + i] as number) * told;
    }
    return logistic(sum);
  }
}

function convolution(layer: 0 | 1 | 2 | 3): Matrix {
  return {
    at: WEIGHTS[`convolution${layer}`],
    rows: WIDTHS[layer],
    columns: ROWS[layer],
    bias: WEIGHTS[`bias${layer}`],
    rectified: true,
  };
}

/** out = matrix . input + bias. */
function multiply(
  weights: Float32Array,
  { at, rows, columns, bias, rectified }: Matrix,
  input: Float32Array,
  out: Float32Array,
): void {
  for (let row = 0, from = at; row < rows; row++, from += columns) {
    // Four sums, so that the multiplications do not depend on each other.
    let a = bias === undefined ? 0 : (weights[bias + row] as number);
    let b = 0;
    let c = 0;
    let d = 0;
    for (let i = 0; i < columns; i += 4) {
      a += (weights[from + i] as number) * (input[i] as number);
      b += (weights[from + i + 1] as number) * (input[i + 1] as number);
      c += (weights[from + i + 2] as number) * (input[i + 2] as number);
      d += (weights[from + i + 3] as number) * (input[i + 3] as number);
    }
    const sum = a + b + c + d;
    out[row] = rectified === true && sum < 0 ? 0 : sum;
  }
}

function logistic(x: number): number {
  return 1 / (1 + Math.exp(-x));
}
