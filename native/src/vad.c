// One window of the speech detector's network with WebAssembly SIMD: 32 ms of one stream a call. The
// portable version is src/audio/vad-portable.ts. Nothing here allocates, and nothing is thread-safe.

#include "vad.h"

#include <wasm_simd128.h>

#define EXPORT(name) __attribute__((export_name(name)))
#define INLINE static inline __attribute__((always_inline))

static struct vad_weights weights __attribute__((aligned(16)));
static struct vad_stream streams[STREAMS_MAX] __attribute__((aligned(16)));
static int16_t window[WINDOW_SAMPLES] __attribute__((aligned(16)));

// Work space. Columns of zeros at both ends are the convolutions' padding and are never written.
static float padded[CONTEXT_SAMPLES + WINDOW_SAMPLES + CONTEXT_SAMPLES];
static float spectra[STRETCHES][2 * BINS];
static float magnitudes[(STRETCHES + 2) * BINS + 3]; // the three fill the last row up
static float hidden_0[(STRETCHES + 2) * WIDTH_0];
static float hidden_1[2 * WIDTH_1];
static float hidden_2[WIDTH_2];
static float features[2 * UNITS];
static float gates[4 * UNITS];

EXPORT("vadWeights") float *vad_weights(void) { return (float *)&weights; }
EXPORT("vadWeightsBytes") int vad_weights_bytes(void) { return sizeof weights; }
EXPORT("vadStreamBytes") int vad_stream_bytes(void) { return sizeof *streams; }
EXPORT("vadStreamsMax") int vad_streams_max(void) { return STREAMS_MAX; }
EXPORT("vadWindow") int16_t *vad_window(void) { return window; }

INLINE float sum_of_lanes(v128_t v) {
  v128_t pairs = wasm_f32x4_add(v, wasm_i32x4_shuffle(v, v, 2, 3, 0, 1));
  return wasm_f32x4_extract_lane(pairs, 0) + wasm_f32x4_extract_lane(pairs, 1);
}

INLINE v128_t multiply_add(v128_t sum, v128_t a, v128_t b) {
  return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b));
}

// out[i] = matrix . in[i] + bias for `count` (a constant, 1 to 4) inputs `in_step` floats apart. Each row
// is loaded once for all of them. Without bias the outputs are not rectified either.
INLINE void multiply(const float *matrix, const float *bias, int rows, int columns, int count,
                     const float *in, int in_step, float *out, int out_step, int rectified) {
  for (int row = 0; row < rows; row++, matrix += columns) {
    v128_t even[4], odd[4];
    for (int i = 0; i < count; i++) even[i] = odd[i] = wasm_f32x4_const_splat(0);
    int at = 0;
    for (; at + 8 <= columns; at += 8) {
      v128_t low = wasm_v128_load(matrix + at), high = wasm_v128_load(matrix + at + 4);
      for (int i = 0; i < count; i++) {
        even[i] = multiply_add(even[i], low, wasm_v128_load(in + i * in_step + at));
        odd[i] = multiply_add(odd[i], high, wasm_v128_load(in + i * in_step + at + 4));
      }
    }
    if (at < columns) {
      v128_t low = wasm_v128_load(matrix + at);
      for (int i = 0; i < count; i++) {
        even[i] = multiply_add(even[i], low, wasm_v128_load(in + i * in_step + at));
      }
    }
    for (int i = 0; i < count; i++) {
      float sum = sum_of_lanes(wasm_f32x4_add(even[i], odd[i]));
      if (bias) sum += bias[row];
      out[i * out_step + row] = rectified && sum < 0 ? 0 : sum;
    }
  }
}

// Two rows at once for a single input: fewer loads of the input for each product.
INLINE void multiply_one(const float *matrix, const float *bias, int rows, int columns,
                         const float *in, float *out, int rectified) {
  for (int row = 0; row < rows; row += 2, matrix += 2 * columns) {
    v128_t first[2], second[2];
    first[0] = first[1] = second[0] = second[1] = wasm_f32x4_const_splat(0);
    for (int at = 0; at < columns; at += 8) {
      v128_t low = wasm_v128_load(in + at), high = wasm_v128_load(in + at + 4);
      first[0] = multiply_add(first[0], low, wasm_v128_load(matrix + at));
      first[1] = multiply_add(first[1], high, wasm_v128_load(matrix + at + 4));
      second[0] = multiply_add(second[0], low, wasm_v128_load(matrix + columns + at));
      second[1] = multiply_add(second[1], high, wasm_v128_load(matrix + columns + at + 4));
    }
    float one = sum_of_lanes(wasm_f32x4_add(first[0], first[1])) + bias[row];
    float two = sum_of_lanes(wasm_f32x4_add(second[0], second[1])) + bias[row + 1];
    out[row] = rectified && one < 0 ? 0 : one;
    out[row + 1] = rectified && two < 0 ? 0 : two;
  }
}

// e^x: by 2^n times a polynomial on half an octave around 1 (Cephes' expf), within 2 units in the last
// place. Beyond +-87 the result stands still.
INLINE v128_t exponential(v128_t x) {
  x = wasm_f32x4_min(wasm_f32x4_max(x, wasm_f32x4_const_splat(-87.0f)), wasm_f32x4_const_splat(87.0f));
  v128_t n = wasm_f32x4_nearest(wasm_f32x4_mul(x, wasm_f32x4_const_splat(1.44269504f)));
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_const_splat(0.693359375f)));
  r = wasm_f32x4_sub(r, wasm_f32x4_mul(n, wasm_f32x4_const_splat(-2.12194440e-4f)));
  v128_t p = wasm_f32x4_const_splat(1.9875691500e-4f);
  p = multiply_add(wasm_f32x4_const_splat(1.3981999507e-3f), p, r);
  p = multiply_add(wasm_f32x4_const_splat(8.3334519073e-3f), p, r);
  p = multiply_add(wasm_f32x4_const_splat(4.1665795894e-2f), p, r);
  p = multiply_add(wasm_f32x4_const_splat(1.6666665459e-1f), p, r);
  p = multiply_add(wasm_f32x4_const_splat(5.0000001201e-1f), p, r);
  p = multiply_add(wasm_f32x4_add(r, wasm_f32x4_const_splat(1.0f)), p, wasm_f32x4_mul(r, r));
  v128_t power = wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_const_splat(127));
  return wasm_f32x4_mul(p, wasm_i32x4_shl(power, 23));
}

INLINE v128_t logistic(v128_t x) {
  v128_t one = wasm_f32x4_const_splat(1.0f);
  return wasm_f32x4_div(one, wasm_f32x4_add(one, exponential(wasm_f32x4_neg(x))));
}

INLINE v128_t hyperbolic_tangent(v128_t x) {
  v128_t half = logistic(wasm_f32x4_add(x, x));
  return wasm_f32x4_sub(wasm_f32x4_add(half, half), wasm_f32x4_const_splat(1.0f));
}

// The stretches' magnitudes of context, window, and the window's end mirrored.
INLINE void analyse(struct vad_stream *stream) {
  enum { END = CONTEXT_SAMPLES + WINDOW_SAMPLES };
  for (int i = 0; i < CONTEXT_SAMPLES; i++) padded[i] = stream->context[i];
  for (int i = 0; i < WINDOW_SAMPLES; i++) padded[CONTEXT_SAMPLES + i] = window[i] * (1.0f / 32768);
  for (int i = 0; i < CONTEXT_SAMPLES; i++) {
    padded[END + i] = padded[END - 2 - i];
    stream->context[i] = padded[END - CONTEXT_SAMPLES + i];
  }
  multiply(weights.basis, 0, 2 * BINS, STRETCH_SAMPLES, STRETCHES, padded, STRETCH_STEP, spectra[0],
           2 * BINS, 0);
  for (int i = 0; i < STRETCHES; i++) {
    for (int bin = 0; bin < BINS; bin++) {
      float real = spectra[i][bin], imaginary = spectra[i][BINS + bin];
      magnitudes[(i + 1) * BINS + bin] = __builtin_sqrtf(real * real + imaginary * imaginary);
    }
  }
}

INLINE void convolve(void) {
  multiply(weights.convolution_0, weights.bias_0, WIDTH_0, ROW_0, STRETCHES, magnitudes, BINS,
           hidden_0 + WIDTH_0, WIDTH_0, 1);
  multiply(weights.convolution_1, weights.bias_1, WIDTH_1, ROW_1, 2, hidden_0, 2 * WIDTH_0, hidden_1,
           WIDTH_1, 1);
  multiply_one(weights.convolution_2, weights.bias_2, WIDTH_2, ROW_2, hidden_1, hidden_2, 1);
  multiply_one(weights.convolution_3, weights.bias_3, WIDTH_3, ROW_3, hidden_2, features, 1);
}

// One step of the recurrent layer, and the probability that it says.
INLINE float remember(struct vad_stream *stream) {
  for (int i = 0; i < UNITS; i++) features[UNITS + i] = stream->output[i];
  multiply_one(weights.gates, weights.gate_bias, 4 * UNITS, 2 * UNITS, features, gates, 0);
  v128_t sum = wasm_f32x4_const_splat(0);
  for (int i = 0; i < UNITS; i += 4) {
    v128_t kept = wasm_f32x4_mul(logistic(wasm_v128_load(gates + UNITS + i)),
                                 wasm_v128_load(stream->memory + i));
    v128_t taken = wasm_f32x4_mul(logistic(wasm_v128_load(gates + i)),
                                  hyperbolic_tangent(wasm_v128_load(gates + 2 * UNITS + i)));
    v128_t memory = wasm_f32x4_add(kept, taken);
    v128_t told = wasm_f32x4_mul(logistic(wasm_v128_load(gates + 3 * UNITS + i)),
                                 hyperbolic_tangent(memory));
    wasm_v128_store(stream->memory + i, memory);
    wasm_v128_store(stream->output + i, told);
    v128_t positive = wasm_f32x4_max(told, wasm_f32x4_const_splat(0));
    sum = multiply_add(sum, positive, wasm_v128_load(weights.output + i));
  }
  v128_t logit = wasm_f32x4_splat(sum_of_lanes(sum) + weights.output_bias[0]);
  return wasm_f32x4_extract_lane(logistic(logit), 0);
}

// The caller keeps `slot` within 0..STREAMS_MAX-1.
EXPORT("vadClear") void vad_clear(int slot) { streams[slot] = (struct vad_stream){0}; }

// Hears what stands in the window; the probability of speech, 0..1.
EXPORT("vadProcess") float vad_process(int slot) {
  analyse(&streams[slot]);
  convolve();
  return remember(&streams[slot]);
}
