// The vectors of vad-network.c, as wide as the instruction set that it is compiled for has them, and what its
// products of matrices take.
#ifndef VAD_LANES_H
#define VAD_LANES_H

#include "kernel.h"

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX2__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
enum { PANEL = 2 * LANES }; // outputs whose weights lie together

typedef float lanes __attribute__((vector_size(4 * LANES)));
typedef int32_t whole __attribute__((vector_size(4 * LANES)));
typedef float lanes_at __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

INLINE lanes load(const float *at) { return *(const lanes_at *)at; }
INLINE void store(float *at, lanes v) { *(lanes_at *)at = v; }
INLINE lanes splat(float x) { return x - (lanes){0}; }
INLINE lanes choose(whole mask, lanes yes, lanes no) {
  return (lanes)((mask & (whole)yes) | (~mask & (whole)no));
}
INLINE lanes rectified(lanes v) { return (lanes)((whole)v & (v > splat(0))); }

// A matrix, laid out by put_weight. `columns` is the length of its rows; a product may use fewer, from column
// `from` on.
struct matrix {
  const float *panels, *bias; // the bias may be missing
  int rows, columns, rectified, from;
};

// Inputs or outputs of a product, `step` floats apart.
struct vectors {
  float *first;
  int step;
};

#endif
