// The measures of the speech detector's network, the layout of its weights, and what it keeps of a stream.
// The same stand in src/audio/vad-kernel.ts; a test compares the sizes.
// Source: Silero VAD v6 (MIT), the 8 kHz branch; scripts/extract-vad.mjs writes the weights.
#ifndef VAD_H
#define VAD_H

#include <stdint.h>

enum {
  STREAMS_MAX = 2048,
  BATCH_MAX = 256, // windows of one call
  CONTEXT_SAMPLES = 32, // the end of the window before
  WINDOW_SAMPLES = 256,
  HEARD_SAMPLES = CONTEXT_SAMPLES + WINDOW_SAMPLES,
  STRETCHES = 4,
  STRETCH_SAMPLES = 128,
  STRETCH_STEP = 64,
  BINS = 65,
  WIDTH_0 = 128,
  WIDTH_1 = 64,
  WIDTH_2 = 64,
  WIDTH_3 = 128,
  DEPTH_0 = 3 * BINS,
  ROW_0 = DEPTH_0 + 1, // the file's rows are whole lanes
  DEPTH_1 = 3 * WIDTH_0,
  DEPTH_2 = 2 * WIDTH_1,
  DEPTH_3 = WIDTH_2,
  UNITS = 128,
  DEPTH_GATES = 2 * UNITS,
};

// Matrices are rows of one output each; a convolution's row is [tap][input].
struct vad_weights {
  float basis[2 * BINS * STRETCH_SAMPLES]; // the real parts' rows, then the imaginary parts'
  float convolution_0[WIDTH_0 * ROW_0], bias_0[WIDTH_0];
  float convolution_1[WIDTH_1 * DEPTH_1], bias_1[WIDTH_1];
  float convolution_2[WIDTH_2 * DEPTH_2], bias_2[WIDTH_2];
  float convolution_3[WIDTH_3 * DEPTH_3], bias_3[WIDTH_3];
  float gates[4 * UNITS * DEPTH_GATES], gate_bias[4 * UNITS]; // input, forget, cell, output
  float output[UNITS], output_bias[4];
};

struct vad_stream {
  float output[UNITS];
  float memory[UNITS];
};

// What `hear` works on: `count` windows (1..BATCH_MAX) of as many streams, and a probability for each.
struct vad_batch {
  int16_t windows[BATCH_MAX][HEARD_SAMPLES];
  int32_t slots[BATCH_MAX];
  float probabilities[BATCH_MAX];
};

float *vad_weights(void);
int32_t vad_weights_bytes(void);
int32_t vad_streams_max(void);
int32_t vad_batch_max(void);
int32_t vad_heard_samples(void);
int16_t *vad_windows(void);
int32_t *vad_slots(void);
float *vad_probabilities(void);
int32_t vad_instructions(void);
int32_t vad_prepare(int32_t instructions);
void vad_clear(int32_t slot);
void vad_hear(int32_t count);

#endif
