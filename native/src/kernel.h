// What every kernel is written against, so that one source makes both builds: WebAssembly and the addon.
//
// A kernel is a file of functions that take int32 numbers and give a number, an address or nothing. What
// JavaScript reads and writes is SHARED memory of fixed size. Nothing allocates, nothing is thread-safe.
// SIMD is written with vector types, which GCC and Clang turn into whatever the target has.
//
// A new kernel: its .c, a .h with its exported functions, a line for each of them in exports.h, and
// `npm run build:native -- --wasm`. Both builds then have it under its JavaScript name.
#ifndef KERNEL_H
#define KERNEL_H

#include <stdint.h>

#ifdef __wasm__
#define EXPORT(name) __attribute__((export_name(name)))
#define SHARED __attribute__((aligned(64)))
#else
#define EXPORT(name)
// One section, which the addon hands to JavaScript as one buffer: addresses are offsets in it.
#define SHARED __attribute__((section("kernels"), aligned(64)))
#endif

#define INLINE static inline __attribute__((always_inline))

// Four lanes, as every target has them. `…_at` may lie at any float's address.
typedef float floats4 __attribute__((vector_size(16)));
typedef float floats4_at __attribute__((vector_size(16), aligned(4), may_alias));

INLINE floats4 load4(const float *at) { return *(const floats4_at *)at; }

// In pairs, as the instructions do it: every target gets the same sum.
INLINE float sum_of_lanes4(floats4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }

// Eight samples or weights; `…_at` may lie at any sample's address.
typedef int16_t shorts8 __attribute__((vector_size(16)));
typedef int16_t shorts8_at __attribute__((vector_size(16), aligned(2), may_alias));
typedef int32_t ints4 __attribute__((vector_size(16)));

INLINE shorts8 load8(const int16_t *at) { return *(const shorts8_at *)at; }

// The products of the lanes, each two of them summed.
INLINE ints4 products8(shorts8 a, shorts8 b) {
#if defined(__wasm__)
  return __builtin_wasm_dot_s_i32x4_i16x8(a, b);
#elif defined(__SSE2__)
  return __builtin_ia32_pmaddwd128(a, b);
#else
  return (ints4){a[0] * b[0] + a[1] * b[1], a[2] * b[2] + a[3] * b[3], a[4] * b[4] + a[5] * b[5],
                 a[6] * b[6] + a[7] * b[7]};
#endif
}

INLINE int32_t whole_of_lanes4(ints4 v) { return (v[0] + v[2]) + (v[1] + v[3]); }

#endif
