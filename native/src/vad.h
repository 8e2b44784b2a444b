// The measures of the speech detector's network, the layout of its weights, and what it keeps of a stream.
// The same stand in src/audio/vad-kernel.ts; a test compares the sizes.
// Source: Silero VAD v6 (MIT), the 8 kHz branch; scripts/extract-vad.mjs writes the weights.
#ifndef VAD_H
#define VAD_H

#include <stdint.h>

enum {
  STREAMS_MAX = 2048,
  WINDOW_SAMPLES = 256,
  CONTEXT_SAMPLES = 32,
  STRETCHES = 4,
  STRETCH_SAMPLES = 128,
  STRETCH_STEP = 64,
  BINS = 65,
  WIDTH_0 = 128,
  WIDTH_1 = 64,
  WIDTH_2 = 64,
  WIDTH_3 = 128,
  ROW_0 = 196, // 3 taps of 65 bins, and one float to a whole number of lanes
  ROW_1 = 3 * WIDTH_0,
  ROW_2 = 2 * WIDTH_1,
  ROW_3 = WIDTH_2,
  UNITS = 128,
};

// Matrices are rows of one output each; a convolution's row is [tap][input].
struct vad_weights {
  float basis[2 * BINS * STRETCH_SAMPLES]; // the real parts' rows, then the imaginary parts'
  float convolution_0[WIDTH_0 * ROW_0], bias_0[WIDTH_0];
  float convolution_1[WIDTH_1 * ROW_1], bias_1[WIDTH_1];
  float convolution_2[WIDTH_2 * ROW_2], bias_2[WIDTH_2];
  float convolution_3[WIDTH_3 * ROW_3], bias_3[WIDTH_3];
  float gates[4 * UNITS * 2 * UNITS], gate_bias[4 * UNITS]; // input, forget, cell, output
  float output[UNITS], output_bias[4];
};

struct vad_stream {
  float context[CONTEXT_SAMPLES]; // the end of the last window
  float output[UNITS];
  float memory[UNITS];
};

#endif
