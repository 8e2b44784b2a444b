// The speech detector's network on up to TILE streams at once: each layer is one product of matrices, so that
// a weight is read once for all of them. Compiled once for each instruction set, with INSTRUCTIONS its name.

#include "vad-network.h"

#ifdef __AMX_BF16__
#include "vad-tiles.h"
#else
#include "vad-panels.h"
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

// Work space of one tile: for each window, or for each of its stretches.
static struct {
  float sound[TILE][HEARD_SAMPLES + CONTEXT_SAMPLES];
  // The stretches folded at a half and a quarter of their length: what meets the cosines and sines of the
  // even and of the odd bins.
  float even_cosines[TILE * STRETCHES][HALF + 4], odd_cosines[TILE * STRETCHES][HALF];
  float even_sines[TILE * STRETCHES][HALF], odd_sines[TILE * STRETCHES][HALF + 4];
  float real[TILE * STRETCHES][2 * HALF], imaginary[TILE * STRETCHES][2 * HALF];
  float magnitudes[TILE][STRETCHES][BINS]; // bins 0, 2, … 62, 1, 3, … 63, 64
  float hidden_0[TILE][STRETCHES][WIDTH_0];
  float hidden_1[TILE][2][WIDTH_1];
  float hidden_2[TILE][WIDTH_2];
  float features[TILE][DEPTH_GATES];
  float gates[TILE][4 * UNITS];
} work __attribute__((aligned(64)));

// e^x within 2 units in the last place, by 2^n times a polynomial on half an octave around 1 (Cephes' expf).
// Beyond +-40 the result stands still: a product of two is still finite.
INLINE lanes exponential(lanes x) {
  const float most = 40.0f, round = 12582912.0f; // adding 1.5 * 2^23 drops the fraction
  x = choose(x < splat(-most), splat(-most), x);
  x = choose(x > splat(most), splat(most), x);
  lanes shifted = x * splat(1.44269504f) + splat(round);
  lanes n = shifted - splat(round);
  lanes r = x - n * splat(0.693359375f);
  r = r - n * splat(-2.12194440e-4f);
  lanes p = splat(1.9875691500e-4f) * r + splat(1.3981999507e-3f);
  p = p * r + splat(8.3334519073e-3f);
  p = p * r + splat(4.1665795894e-2f);
  p = p * r + splat(1.6666665459e-1f);
  p = p * r + splat(5.0000001201e-1f);
  p = p * (r * r) + (r + splat(1.0f));
  whole power = (whole)shifted - (whole)splat(round) + 127;
  return p * (lanes)(power << 23);
}

INLINE float sound_of(int16_t sample) { return sample * (1.0f / 32768); }

// Folds one stretch: the sums and differences that meet the same cosine or sine, up to its sign.
INLINE void fold(const float *hann, const float *sound, int at) {
  float y[STRETCH_SAMPLES + 1], even[2 * HALF + 1], odd[2 * HALF + 1];
  for (int n = 0; n < STRETCH_SAMPLES; n++) y[n] = sound[n] * hann[n];
  y[STRETCH_SAMPLES] = 0;
  for (int n = 0; n <= 2 * HALF; n++) {
    even[n] = y[n] + y[STRETCH_SAMPLES - n];
    odd[n] = y[n] - y[STRETCH_SAMPLES - n];
  }
  even[2 * HALF] = y[2 * HALF];
  for (int n = 0; n < HALF; n++) {
    work.even_cosines[at][n] = even[n] + even[2 * HALF - n];
    work.odd_cosines[at][n] = even[n] - even[2 * HALF - n];
    work.even_sines[at][n] = odd[n] - odd[2 * HALF - n];
    work.odd_sines[at][n] = odd[n] + odd[2 * HALF - n];
  }
  work.even_cosines[at][HALF] = even[HALF];
  work.odd_sines[at][HALF] = odd[HALF];
}

// The stretches' magnitudes of context, window, and the window's end mirrored.
static void analyse(const struct vad_packed *packed, const int16_t (*windows)[HEARD_SAMPLES], int count) {
  for (int i = 0; i < count; i++) {
    float *sound = work.sound[i];
    for (int n = 0; n < HEARD_SAMPLES; n++) sound[n] = sound_of(windows[i][n]);
    for (int n = 0; n < CONTEXT_SAMPLES; n++) sound[HEARD_SAMPLES + n] = sound[HEARD_SAMPLES - 2 - n];
    for (int s = 0; s < STRETCHES; s++) fold(packed->hann, sound + s * STRETCH_STEP, i * STRETCHES + s);
  }
  int stretches = count * STRETCHES;
  struct vectors real = {work.real[0], 2 * HALF}, imaginary = {work.imaginary[0], 2 * HALF};
  product(stretches, (struct matrix){packed->even_cosines, 0, HALF, HALF + 1, 0, 0}, HALF + 1,
          (struct vectors){work.even_cosines[0], HALF + 4}, real);
  product(stretches, (struct matrix){packed->even_sines, 0, HALF, HALF, 0, 0}, HALF,
          (struct vectors){work.even_sines[0], HALF}, imaginary);
  real.first += HALF;
  imaginary.first += HALF;
  product(stretches, (struct matrix){packed->odd_cosines, 0, HALF, HALF, 0, 0}, HALF,
          (struct vectors){work.odd_cosines[0], HALF}, real);
  product(stretches, (struct matrix){packed->odd_sines, 0, HALF, HALF + 1, 0, 0}, HALF + 1,
          (struct vectors){work.odd_sines[0], HALF + 4}, imaginary);
  for (int s = 0; s < stretches; s++) {
    float *magnitudes = work.magnitudes[s / STRETCHES][s % STRETCHES];
    for (int bin = 0; bin < 2 * HALF; bin++) {
      float re = work.real[s][bin], im = work.imaginary[s][bin];
      magnitudes[bin] = __builtin_sqrtf(re * re + im * im);
    }
    // The last bin's cosines are 1 and -1 in turn.
    float last = work.even_cosines[s][HALF];
    for (int n = 0; n < HALF; n += 2) last += work.even_cosines[s][n] - work.even_cosines[s][n + 1];
    magnitudes[2 * HALF] = last < 0 ? -last : last;
  }
}

// Taps that would meet nothing but padding are left out: the first of the first output, the last of the last.
static void convolve(const struct vad_weights *weights, const struct vad_packed *packed, int count) {
  enum { IN_0 = STRETCHES * BINS, OUT_0 = STRETCHES * WIDTH_0, OUT_1 = 2 * WIDTH_1 };
  struct matrix all = {packed->convolution_0, weights->bias_0, WIDTH_0, DEPTH_0, 1, 0}, tail = all;
  tail.from = BINS;
  float *in = work.magnitudes[0][0], *out = work.hidden_0[0][0];
  product(count, tail, 2 * BINS, (struct vectors){in, IN_0}, (struct vectors){out, OUT_0});
  product(count, all, DEPTH_0, (struct vectors){in, IN_0}, (struct vectors){out + WIDTH_0, OUT_0});
  in += BINS, out += 2 * WIDTH_0;
  product(count, all, DEPTH_0, (struct vectors){in, IN_0}, (struct vectors){out, OUT_0});
  in += BINS, out += WIDTH_0;
  product(count, all, 2 * BINS, (struct vectors){in, IN_0}, (struct vectors){out, OUT_0});

  all = (struct matrix){packed->convolution_1, weights->bias_1, WIDTH_1, DEPTH_1, 1, 0}, tail = all;
  tail.from = WIDTH_0;
  in = work.hidden_0[0][0], out = work.hidden_1[0][0];
  product(count, tail, 2 * WIDTH_0, (struct vectors){in, OUT_0}, (struct vectors){out, OUT_1});
  in += WIDTH_0, out += WIDTH_1;
  product(count, all, DEPTH_1, (struct vectors){in, OUT_0}, (struct vectors){out, OUT_1});

  product(count, (struct matrix){packed->convolution_2, weights->bias_2, WIDTH_2, DEPTH_2, 1, 0}, DEPTH_2,
          (struct vectors){work.hidden_1[0][0], OUT_1}, (struct vectors){work.hidden_2[0], WIDTH_2});
  product(count, (struct matrix){packed->convolution_3, weights->bias_3, WIDTH_3, DEPTH_3, 1, 0}, DEPTH_3,
          (struct vectors){work.hidden_2[0], WIDTH_2}, (struct vectors){work.features[0], DEPTH_GATES});
}

// One step of a stream's recurrent layer, and the probability that it says. logistic(a) tanh(b) is one
// fraction: (1 - e^-2b) / ((1 + e^-a) (1 + e^-2b)).
static float remember(const struct vad_weights *weights, const float *gates, struct vad_stream *stream) {
  const lanes one = splat(1), two = splat(2);
  lanes sum = splat(0);
  for (int i = 0; i < UNITS; i += LANES) {
    lanes input = exponential(-load(gates + i)), forget = exponential(-load(gates + UNITS + i));
    lanes cell = exponential(-two * load(gates + 2 * UNITS + i));
    lanes memory = load(stream->memory + i) / (one + forget) + (one - cell) / ((one + input) * (one + cell));
    lanes output = exponential(-load(gates + 3 * UNITS + i)), shape = exponential(-two * memory);
    lanes told = (one - shape) / ((one + output) * (one + shape));
    store(stream->memory + i, memory);
    store(stream->output + i, told);
    sum += rectified(told) * load(weights->output + i);
  }
  float logit = weights->output_bias[0];
  for (int i = 0; i < LANES; i++) logit += sum[i];
  return (one / (one + exponential(splat(-logit))))[0];
}

static void hear_tile(const struct vad_weights *weights, const struct vad_packed *packed,
                      struct vad_stream *streams, struct vad_batch *batch, int first, int count) {
  const int32_t *slots = batch->slots + first;
  analyse(packed, (const int16_t(*)[HEARD_SAMPLES])batch->windows + first, count);
  convolve(weights, packed, count);
  for (int i = 0; i < count; i++) {
    __builtin_memcpy(work.features[i] + UNITS, streams[slots[i]].output, sizeof streams->output);
  }
  product(count, (struct matrix){packed->gates, weights->gate_bias, 4 * UNITS, DEPTH_GATES, 0, 0}, DEPTH_GATES,
          (struct vectors){work.features[0], DEPTH_GATES}, (struct vectors){work.gates[0], 4 * UNITS});
  for (int i = 0; i < count; i++) {
    batch->probabilities[first + i] = remember(weights, work.gates[i], &streams[slots[i]]);
  }
}

static void hear(const struct vad_weights *weights, const struct vad_packed *packed,
                 struct vad_stream *streams, struct vad_batch *batch, int count) {
  begin_products();
  for (int first = 0; first < count; first += TILE) {
    int rest = count - first;
    hear_tile(weights, packed, streams, batch, first, rest < TILE ? rest : TILE);
  }
  end_products();
}

static void pack_rows(float *panels, const float *matrix, int rows, int depth) {
  for (int row = 0; row < rows; row++) {
    for (int k = 0; k < depth; k++) put_weight(panels, depth, row, k, matrix[row * depth + k]);
  }
}

// The window and its spectrum's waves, out of the basis' first two bins: the window alone, and one wave of it.
static void pack_waves(const float *basis, struct vad_packed *packed) {
  float cosine[STRETCH_SAMPLES] = {1}, sine[STRETCH_SAMPLES] = {0};
  for (int n = 0; n < STRETCH_SAMPLES; n++) {
    packed->hann[n] = basis[n];
    if (basis[n] == 0) continue; // the first sample, which the window drops
    cosine[n] = basis[STRETCH_SAMPLES + n] / basis[n];
    sine[n] = basis[(BINS + 1) * STRETCH_SAMPLES + n] / basis[n];
  }
  for (int row = 0; row < HALF; row++) {
    for (int n = 0; n <= HALF; n++) {
      int even = 2 * row * n % STRETCH_SAMPLES, odd = (2 * row + 1) * n % STRETCH_SAMPLES;
      put_weight(packed->even_cosines, HALF + 1, row, n, cosine[even]);
      put_weight(packed->odd_sines, HALF + 1, row, n, sine[odd]);
      if (n == HALF) continue;
      put_weight(packed->odd_cosines, HALF, row, n, cosine[odd]);
      put_weight(packed->even_sines, HALF, row, n, sine[even]);
    }
  }
}

static void pack(const struct vad_weights *weights, struct vad_packed *packed) {
  pack_waves(weights->basis, packed);
  for (int row = 0; row < WIDTH_0; row++) {
    for (int k = 0; k < DEPTH_0; k++) {
      int at = k % BINS, bin = at == 2 * HALF ? at : at < HALF ? 2 * at : 2 * (at - HALF) + 1;
      put_weight(packed->convolution_0, DEPTH_0, row, k, weights->convolution_0[row * ROW_0 + k - at + bin]);
    }
  }
  pack_rows(packed->convolution_1, weights->convolution_1, WIDTH_1, DEPTH_1);
  pack_rows(packed->convolution_2, weights->convolution_2, WIDTH_2, DEPTH_2);
  pack_rows(packed->convolution_3, weights->convolution_3, WIDTH_3, DEPTH_3);
  pack_rows(packed->gates, weights->gates, 4 * UNITS, DEPTH_GATES);
}

const struct vad_network JOIN(vad_network_, INSTRUCTIONS) = {pack, hear};
