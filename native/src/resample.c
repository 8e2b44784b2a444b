// One block of a polyphase FIR filter. The stream around it, the filter's design and the portable version are
// in src/audio/resample*.ts.

#include "resample.h"

#include "kernel.h"

enum {
  BLOCK_SAMPLES = 960,
  TAPS_MAX = 192,
  UP_MAX = 6,
  RATIOS_MAX = 12,
};

static SHARED float line[TAPS_MAX - 1 + BLOCK_SAMPLES + 1];
static SHARED int16_t input[BLOCK_SAMPLES];
static SHARED int16_t output[BLOCK_SAMPLES * UP_MAX + UP_MAX];
static SHARED int32_t cursor[2]; // where the next output sample lies: input sample and phase
// Every ratio of rates has its own place here; the caller keeps the number below RATIOS_MAX.
static SHARED float weights[RATIOS_MAX][TAPS_MAX];

EXPORT("resampleLine") float *resample_line(void) { return line; }
EXPORT("resampleInput") int16_t *resample_input(void) { return input; }
EXPORT("resampleOutput") int16_t *resample_output(void) { return output; }
EXPORT("resampleCursor") int32_t *resample_cursor(void) { return cursor; }
EXPORT("resampleWeights") float *resample_weights(int32_t ratio) { return weights[ratio]; }

INLINE int16_t sample_of(float sum) {
  float whole = __builtin_rintf(sum);
  return whole > 32767 ? 32767 : whole < -32768 ? -32768 : (int16_t)whole;
}

// Filters `count` samples of the input behind `taps - 1` samples of history in the line; moves the history
// on and gives the number of samples in the output.
EXPORT("resampleBlock")
int32_t resample_block(int32_t ratio, int32_t count, int32_t up, int32_t down, int32_t taps) {
  float *block = line + taps - 1;
  for (int i = 0; i < count; i++) block[i] = input[i];
  int at = cursor[0], phase = cursor[1], written = 0;
  while (at < count) {
    const float *row = weights[ratio] + phase * taps;
    floats4 even = {0}, odd = {0};
    for (int tap = 0; tap < taps; tap += 8) {
      const float *x = line + at + tap, *w = row + tap;
      even += load4(w) * load4(x);
      odd += load4(w + 4) * load4(x + 4);
    }
    output[written++] = sample_of(sum_of_lanes4(even + odd));
    for (phase += down; phase >= up; phase -= up) at++;
  }
  for (int i = 0; i < taps - 1; i++) line[i] = line[count + i];
  cursor[0] = at - count;
  cursor[1] = phase;
  return written;
}
