// The products of vad-network.c by the tiles of AMX-BF16, which multiply 16 rows of 32 numbers by 16 columns
// at once. Its numbers have 8 bits of mantissa, so that each float is taken as the sum of two: `high`, the
// nearest, and `low`, the nearest to what is left. high * high + high * low + low * high has about 16 bits;
// without one of the last two, probabilities are wrong by up to 0.008 instead of 0.00002.
// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, on programming with AMX.
//
// The 32 inputs of a step meet as pairs, k and k + 16, so that two vectors of floats become one of pairs.
// Weights therefore lie as [PANEL outputs][step][16 of the outputs][high, low][pair][output][of the pair].
#ifndef VAD_TILES_H
#define VAD_TILES_H

#include <immintrin.h>

#include "vad-lanes.h"

enum { BLOCK = LANES, TILE = 2 * BLOCK }; // windows
enum { STEP = 2 * LANES, STEPS_MAX = 12 }; // inputs; the second convolution has most of them
enum { HALF_FLOATS = LANES * LANES, STEP_FLOATS = 4 * HALF_FLOATS }; // of 16 outputs; of PANEL, both halves

// The registers: sums of two blocks of windows with two of outputs; halves of inputs and of weights.
#define SUM_00 0
#define SUM_01 1
#define SUM_10 2
#define SUM_11 3
#define INPUT_HIGH 4
#define INPUT_LOW 5
#define WEIGHT_HIGH 6
#define WEIGHT_LOW 7

// The inputs of up to TILE windows.
static struct {
  whole high[STEPS_MAX][TILE], low[STEPS_MAX][TILE];
} halves __attribute__((aligned(64)));

// GCC does not know that tiles are read from memory.
INLINE void settle(void) { __asm__ volatile("" ::: "memory"); }

// Eight registers of up to 16 rows of 64 bytes: a row is a window's sums or inputs, or a pair's weights.
static struct {
  uint8_t palette, start, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
} shape = {1, 0, {0}, {64, 64, 64, 64, 64, 64, 64, 64}, {0, 0, 0, 0, 0, 0, LANES, LANES}};

INLINE void begin_products(void) { shape.rows[0] = 0; }

// For blocks of `windows`.
INLINE void shape_registers(uint8_t windows) {
  if (shape.rows[0] == windows) return;
  for (int i = 0; i < WEIGHT_HIGH; i++) shape.rows[i] = windows;
  settle();
  _tile_loadconfig(&shape);
}

// Without this the kernel would save 8 KB at each change of threads.
INLINE void end_products(void) { _tile_release(); }

INLINE int steps_of(int inputs) { return (inputs + STEP - 1) / STEP; }

// The nearest number that has the upper 16 bits only.
INLINE whole high_of(lanes v) { return ((whole)v + 0x8000) & -0x10000; }
INLINE whole pairs(whole first, whole second) {
  return (whole)_mm512_srli_epi32((__m512i)first, 16) | second;
}

// The inputs `k` to `k + LANES` of which those in `from` to `end` are there; the others are 0.
INLINE lanes inputs_at(const float *row, int k, int from, int end) {
  int less = k < from ? from - k : 0, more = end - k < LANES ? end - k : LANES;
  if (less >= LANES || more <= 0) return splat(0);
  __mmask16 there = (__mmask16)((0xffff << less) & (0xffff >> (LANES - more)));
  return (lanes)_mm512_maskz_loadu_ps(there, row + k);
}

// Takes `count` inputs of columns `from` to `end` apart.
INLINE void take(int count, struct vectors in, int from, int end) {
  for (int k = from / STEP * STEP; k < end; k += STEP) {
    for (int i = 0; i < count; i++) {
      const float *row = in.first + i * in.step - from;
      lanes first = inputs_at(row, k, from, end), second = inputs_at(row, k + LANES, from, end);
      whole first_high = high_of(first), second_high = high_of(second);
      halves.high[k / STEP][i] = pairs(first_high, second_high);
      halves.low[k / STEP][i] = pairs(high_of(first - (lanes)first_high), high_of(second - (lanes)second_high));
    }
  }
}

#define LOAD_INPUTS(block)                                            \
  _tile_loadd(INPUT_HIGH, halves.high[step] + (block) * BLOCK, 64);   \
  _tile_loadd(INPUT_LOW, halves.low[step] + (block) * BLOCK, 64)
#define LOAD_WEIGHTS(block)                                             \
  _tile_loadd(WEIGHT_HIGH, weights + 2 * (block) * HALF_FLOATS, 64);    \
  _tile_loadd(WEIGHT_LOW, weights + (2 * (block) + 1) * HALF_FLOATS, 64)
#define MULTIPLY(sum)                               \
  _tile_dpbf16ps(sum, INPUT_HIGH, WEIGHT_HIGH);     \
  _tile_dpbf16ps(sum, INPUT_HIGH, WEIGHT_LOW);      \
  _tile_dpbf16ps(sum, INPUT_LOW, WEIGHT_HIGH)

// The outputs `row` to `row + PANEL` of one block of windows, or (`two`, a constant) of both.
INLINE void panel_product(int two, struct matrix matrix, int row, int end, float *output, int output_step) {
  static const float none[PANEL] = {0};
  const float *bias = matrix.bias ? matrix.bias + row : none;
  _tile_loadd(SUM_00, bias, 0); // the same for each window
  _tile_loadd(SUM_01, bias + LANES, 0);
  if (two) {
    _tile_loadd(SUM_10, bias, 0);
    _tile_loadd(SUM_11, bias + LANES, 0);
  }
  const float *panel = matrix.panels + row / PANEL * steps_of(matrix.columns) * STEP_FLOATS;
  for (int step = matrix.from / STEP; step < steps_of(end); step++) {
    const float *weights = panel + step * STEP_FLOATS;
    LOAD_INPUTS(0);
    LOAD_WEIGHTS(0);
    MULTIPLY(SUM_00);
    if (two) {
      LOAD_INPUTS(1);
      MULTIPLY(SUM_10);
      LOAD_WEIGHTS(1);
      MULTIPLY(SUM_11);
      LOAD_INPUTS(0);
    } else {
      LOAD_WEIGHTS(1);
    }
    MULTIPLY(SUM_01);
  }
  int stride = 4 * output_step;
  _tile_stored(SUM_00, output, stride);
  _tile_stored(SUM_01, output + LANES, stride);
  if (two) {
    _tile_stored(SUM_10, output + BLOCK * output_step, stride);
    _tile_stored(SUM_11, output + BLOCK * output_step + LANES, stride);
  }
}

INLINE void rectify(int count, float *output, int step) {
  for (int i = 0; i < count; i++, output += step) {
    store(output, rectified(load(output)));
    store(output + LANES, rectified(load(output + LANES)));
  }
}

// out[i] = matrix . in[i] + bias for `count` inputs of `depth` floats. The work space has room for a last
// block that goes beyond `count`.
static void product(int count, struct matrix matrix, int depth, struct vectors in, struct vectors out) {
  int end = matrix.from + depth;
  for (; count > 0; count -= TILE, in.first += TILE * in.step, out.first += TILE * out.step) {
    int some = count < TILE ? count : TILE;
    take(some, in, matrix.from, end);
    shape_registers(some < BLOCK ? (uint8_t)some : BLOCK);
    settle();
    for (int row = 0; row < matrix.rows; row += PANEL) {
      if (some > BLOCK) panel_product(1, matrix, row, end, out.first + row, out.step);
      else panel_product(0, matrix, row, end, out.first + row, out.step);
      settle();
      if (matrix.rectified) rectify(some, out.first + row, out.step);
    }
  }
}

typedef uint16_t half_at __attribute__((may_alias));

// Puts one weight of a matrix where `product` looks for it.
INLINE void put_weight(float *panels, int columns, int row, int k, float weight) {
  int step = row / PANEL * steps_of(columns) + k / STEP, block = row % PANEL / LANES;
  half_at *at = (half_at *)(panels + step * STEP_FLOATS + 2 * block * HALF_FLOATS);
  at += 2 * (k % LANES * LANES + row % LANES) + k % STEP / LANES;
  lanes left = splat(weight);
  for (int half = 0; half < 2; half++, at += 2 * HALF_FLOATS) {
    *at = (half_at)(high_of(left)[0] >> 16);
    left -= (lanes)high_of(left);
  }
}

#endif
