// The products of vad-network.c by vectors, whose lanes are outputs; a window's inputs are taken one by one for
// all of them. Weights therefore lie in panels of PANEL outputs: [panel][input][output].
#ifndef VAD_PANELS_H
#define VAD_PANELS_H

#include "vad-lanes.h"

enum { TILE = 24 };
#if defined(__AVX512F__) || defined(__aarch64__)
enum { BLOCK = 12, REST = 4 };
#else
enum { BLOCK = 6, REST = 3 };
#endif

// A constant number of rounds, whose variables then lie in registers.
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

INLINE void begin_products(void) {}
INLINE void end_products(void) {}

// The outputs `row` to `row + PANEL` for `count` (a constant) inputs from `from` on.
INLINE void panel_product(int count, struct matrix matrix, int row, int depth, struct vectors in,
                          struct vectors out, int from) {
  const float *panel = matrix.panels + row * matrix.columns + matrix.from * PANEL;
  const float *input = in.first + from * in.step;
  float *output = out.first + from * out.step + row;
  lanes low[BLOCK], high[BLOCK];
  UNROLL
  for (int i = 0; i < count; i++) {
    low[i] = matrix.bias ? load(matrix.bias + row) : splat(0);
    high[i] = matrix.bias ? load(matrix.bias + row + LANES) : splat(0);
  }
  for (int k = 0; k < depth; k++, panel += PANEL) {
    lanes first = load(panel), second = load(panel + LANES);
    UNROLL
    for (int i = 0; i < count; i++) {
      lanes x = splat(input[i * in.step + k]);
      low[i] += first * x;
      high[i] += second * x;
    }
  }
  UNROLL
  for (int i = 0; i < count; i++, output += out.step) {
    store(output, matrix.rectified ? rectified(low[i]) : low[i]);
    store(output + LANES, matrix.rectified ? rectified(high[i]) : high[i]);
  }
}

// out[i] = matrix . in[i] + bias for `count` inputs of `depth` floats. The work space has room for a last
// block that goes beyond `count`.
INLINE void product(int count, struct matrix matrix, int depth, struct vectors in, struct vectors out) {
  for (int row = 0; row < matrix.rows; row += PANEL) {
    int i = 0;
    for (; i + BLOCK <= count; i += BLOCK) panel_product(BLOCK, matrix, row, depth, in, out, i);
    for (; i < count; i += REST) panel_product(REST, matrix, row, depth, in, out, i);
  }
}

// Puts one weight of a matrix where `product` looks for it.
INLINE void put_weight(float *panels, int columns, int row, int k, float weight) {
  panels[(row / PANEL * columns + k) * PANEL + row % PANEL] = weight;
}

#endif
