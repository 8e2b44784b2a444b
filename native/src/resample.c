// One block of a polyphase FIR filter with WebAssembly SIMD. The stream around it, the filter's design and
// the portable version are in src/audio/resample.ts. Nothing here allocates, and nothing is thread-safe.

#include <stdint.h>
#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(name)))

enum {
  BLOCK_SAMPLES = 960,
  TAPS_MAX = 192,
  UP_MAX = 6,
  RATIOS_MAX = 12,
};

static float line[TAPS_MAX - 1 + BLOCK_SAMPLES + 1] __attribute__((aligned(16)));
static int16_t input[BLOCK_SAMPLES] __attribute__((aligned(16)));
static int16_t output[BLOCK_SAMPLES * UP_MAX + UP_MAX] __attribute__((aligned(16)));
static int32_t cursor[2]; // where the next output sample lies: input sample and phase
// Every ratio of rates has its own place here; the caller keeps the number below RATIOS_MAX.
static float weights[RATIOS_MAX][TAPS_MAX] __attribute__((aligned(16)));

EXPORT("resampleLine") float *resample_line(void) { return line; }
EXPORT("resampleInput") int16_t *resample_input(void) { return input; }
EXPORT("resampleOutput") int16_t *resample_output(void) { return output; }
EXPORT("resampleCursor") int32_t *resample_cursor(void) { return cursor; }
EXPORT("resampleWeights") float *resample_weights(int ratio) { return weights[ratio]; }

// Filters `count` samples of the input behind `taps - 1` samples of history in the line; moves the history
// on and gives the number of samples in the output.
EXPORT("resampleBlock")
int resample_block(int ratio, int count, int up, int down, int taps) {
  float *block = line + taps - 1;
  for (int i = 0; i < count; i++) block[i] = input[i];
  int at = cursor[0], phase = cursor[1], written = 0;
  while (at < count) {
    const float *row = weights[ratio] + phase * taps;
    v128_t even = wasm_f32x4_const_splat(0), odd = even;
    for (int tap = 0; tap < taps; tap += 8) {
      const float *x = line + at + tap, *w = row + tap;
      even = wasm_f32x4_add(even, wasm_f32x4_mul(wasm_v128_load(w), wasm_v128_load(x)));
      odd = wasm_f32x4_add(odd, wasm_f32x4_mul(wasm_v128_load(w + 4), wasm_v128_load(x + 4)));
    }
    v128_t sum = wasm_f32x4_add(even, odd);
    sum = wasm_f32x4_add(sum, wasm_i32x4_shuffle(sum, sum, 2, 3, 0, 1));
    sum = wasm_f32x4_add(sum, wasm_i32x4_shuffle(sum, sum, 1, 0, 3, 2));
    v128_t whole = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(sum));
    output[written++] = wasm_i16x8_extract_lane(wasm_i16x8_narrow_i32x4(whole, whole), 0);
    for (phase += down; phase >= up; phase -= up) at++;
  }
  for (int i = 0; i < taps - 1; i++) line[i] = line[count + i];
  cursor[0] = at - count;
  cursor[1] = phase;
  return written;
}
