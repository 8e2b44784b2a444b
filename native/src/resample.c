// One block of a polyphase FIR filter, in whole numbers: every build gives the same samples. The stream around
// it, the filter's design and the portable version are in src/audio/resample*.ts.

#include "resample.h"

#include "kernel.h"

enum {
  BLOCK_SAMPLES = 960,
  TAPS_MAX = 192,
  UP_MAX = 6,
  RATIOS_MAX = 12,
  WEIGHT_BITS = 14, // behind the point; a row's magnitudes sum up to less than 4, or 32 bits would not do
};

static SHARED int16_t line[TAPS_MAX - 1 + BLOCK_SAMPLES + 1];
static SHARED int16_t output[BLOCK_SAMPLES * UP_MAX + UP_MAX];
static SHARED int32_t cursor[2]; // where the next output sample lies: input sample and phase
// Every ratio of rates has its own place here; the caller keeps the number below RATIOS_MAX.
static SHARED int16_t weights[RATIOS_MAX][TAPS_MAX];

EXPORT("resampleLine") int16_t *resample_line(void) { return line; }
EXPORT("resampleOutput") int16_t *resample_output(void) { return output; }
EXPORT("resampleCursor") int32_t *resample_cursor(void) { return cursor; }
EXPORT("resampleWeights") int16_t *resample_weights(int32_t ratio) { return weights[ratio]; }

INLINE int16_t sample_of(int32_t sum) {
  int32_t whole = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
  return (int16_t)(whole > 32767 ? 32767 : whole < -32768 ? -32768 : whole);
}

// Filters `count` samples, which lie in the line behind `taps - 1` samples of history; moves the history on
// and gives the number of samples in the output.
EXPORT("resampleBlock")
int32_t resample_block(int32_t ratio, int32_t count, int32_t up, int32_t down, int32_t taps) {
  int at = cursor[0], phase = cursor[1], written = 0;
  while (at < count) {
    const int16_t *row = weights[ratio] + phase * taps, *x = line + at;
    ints4 sum = {0};
    for (int tap = 0; tap < taps; tap += 8) sum += products8(load8(row + tap), load8(x + tap));
    output[written++] = sample_of(whole_of_lanes4(sum));
    for (phase += down; phase >= up; phase -= up) at++;
  }
  for (int i = 0; i < taps - 1; i++) line[i] = line[count + i];
  cursor[0] = at - count;
  cursor[1] = phase;
  return written;
}
