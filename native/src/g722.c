// G.722 at 64 kbit/s, both ways, to the bit what src/codec/g722-portable.ts does.
// Source: ITU-T G.722 (09/2012), whose names of blocks and tables are in the comments.
//
// A stream's one direction is the state here while a block is worked on; JavaScript brings it and takes it
// away again. The steps below rely on what the Recommendation's tables bound: a quantized difference is below
// 2^14 and a coefficient below 2^15, so that no product leaves 32 bits and few sums need limiting.

#include "g722.h"

#include "kernel.h"

enum {
  BYTES_MAX = 320, // 40 ms
  WINDOW = 24,     // samples that the quadrature mirror filter hears
  PAST = WINDOW - 2,
};

// The six zeros' coefficients (BL1..BL6) and twice the last six differences, newest first; two lanes of
// each second vector stay 0.
struct band {
  int32_t step; // DETL, DETH
  int32_t log;  // NBL, NBH
  int32_t prediction, zero_part; // SL, SZL
  int32_t pole1, pole2;          // AL1, AL2
  int32_t signal1;               // RLT1
  int32_t partial1, partial2;    // PLT1, PLT2
  int32_t unused[3];
  ints4 zeros[2], doubled[2];
};

struct direction {
  struct band low, high;
  int16_t past[WINDOW]; // PAST of them; filled up
};

static SHARED struct direction state;
static SHARED int16_t samples[2 * BYTES_MAX];
static SHARED uint8_t payload[BYTES_MAX];

EXPORT("g722State") int32_t *g722_state(void) { return (int32_t *)&state; }
EXPORT("g722StateBytes") int32_t g722_state_bytes(void) { return sizeof state; }
EXPORT("g722BytesMax") int32_t g722_bytes_max(void) { return BYTES_MAX; }
EXPORT("g722Samples") int16_t *g722_samples(void) { return samples; }
EXPORT("g722Payload") uint8_t *g722_payload(void) { return payload; }

// Q6: decision levels of the lower band's quantizer, in units of its step; behind them none.
enum { NEVER = INT16_MAX, BEYOND = 4096 };
static const int16_t low_levels[32] = {35,   72,   110,  150,  190,  233,  276,  323,  370,  422,  473,
                                       530,  587,  650,  714,  786,  858,  940,  1023, 1121, 1219, 1339,
                                       1458, 1612, 1765, 1980, 2195, 2557, 2919, NEVER, NEVER, NEVER};
// What each of the 64 codes of the lower band stands for (QQ6 with its sign); codes that no encoder sends are
// the smallest step downwards.
static const int16_t low_values[64] = {
    -136,   -136,   -136,   -136,   -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232,
    -9360,  -8576,  -7856,  -7192,  -6576,  -6000,  -5456,  -4944,  -4464,  -4008,  -3576,  -3168,  -2776,
    -2400,  -2032,  -1688,  -1360,  -1040,  -728,   24808,  21904,  19008,  16704,  14984,  13512,  12280,
    11192,  10232,  9360,   8576,   7856,   7192,   6576,   6000,   5456,   4944,   4464,   4008,   3576,
    3168,   2776,   2400,   2032,   1688,   1360,   1040,   728,    432,    136,    -432,   -136};
// QQ4 with its sign, and WL: by the four most significant bits of a code, which alone drive the adaptation.
static const int16_t low_coarse[16] = {0,     -20456, -12896, -8968, -6288, -4240, -2584, -1200,
                                       20456, 12896,  8968,   6288,  4240,  2584,  1200,  0};
static const int16_t low_scales[16] = {-60,  3042, 1198, 538, 334, 172, 58, -30,
                                       3042, 1198, 538,  334, 172, 58,  -30, -60};
// QQ2 with its sign, and WH.
static const int16_t high_values[4] = {-7408, -1616, 7408, 1616};
static const int16_t high_scales[4] = {798, -214, 798, -214};
enum { HIGH_LEVEL = 564, LOW_LOG_MAX = 18432, HIGH_LOG_MAX = 22528, LOW_SHIFT = 8, HIGH_SHIFT = 10 };
// ILB: powers of two by 32nds, 11 bits after the point.
static const int16_t inverse_log[32] = {2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543,
                                        2599, 2656, 2714, 2774, 2834, 2896, 2960, 3025, 3091, 3158, 3228,
                                        3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008};
// The quadrature mirror filter, oldest sample first: the first of each two coefficients goes with one phase,
// the second with the other.
static const int16_t mirror_sum[WINDOW] = {3,    -11, -11, 53,  12,  -156, 32,  362, -210, -805, 951, 3876,
                                           3876, 951, -805, -210, 362, 32,  -156, 12, 53,   -11,  -11, 3};
static const int16_t mirror_difference[WINDOW] = {-3,    -11, 11,  53,   -12, -156, -32, 362,
                                                  210,   -805, -951, 3876, -3876, 951, 805, -210,
                                                  -362,  32,  156, 12,   -53, -11,  11,  3};
static const int16_t mirror_even[WINDOW] = {3,    0, -11,  0, 12,  0, 32,   0, -210, 0, 951, 0,
                                            3876, 0, -805, 0, 362, 0, -156, 0, 53,   0, -11, 0};
static const int16_t mirror_odd[WINDOW] = {0, -11, 0, 53,  0, -156, 0, 362, 0, -805, 0, 3876,
                                           0, 951, 0, -210, 0, 32,  0, 12,  0, -11,  0, 3};

// In front of a block's samples are the last of the one before.
static int16_t line[PAST + 2 * BYTES_MAX];

INLINE int32_t limited(int32_t value, int32_t low, int32_t high) {
  return value < low ? low : value > high ? high : value;
}

INLINE int32_t clamp16(int32_t value) { return limited(value, -32768, 32767); }

INLINE int32_t mirrored(const int16_t *window, const int16_t *coefficients) {
  ints4 sum = {0};
  for (int i = 0; i < WINDOW; i += 8) sum += products8(load8(window + i), load8(coefficients + i));
  return whole_of_lanes4(sum);
}

// UPPOL2, then UPPOL1 within the bounds that the new second pole sets.
INLINE void adapt_poles(struct band *band, int32_t partial) {
  int same1 = (partial ^ band->partial1) >= 0, same2 = (partial ^ band->partial2) >= 0;
  int32_t quadruple = clamp16(band->pole1 * 4);
  int32_t pull = limited(same1 ? -quadruple : quadruple, -32768, 32767) >> 7;
  // x - x/128 and x - x/256, rounded down as the Recommendation's products are.
  int32_t second = pull + (same2 ? 128 : -128) + band->pole2 + (-band->pole2 >> 7);
  band->pole2 = limited(second, -12288, 12288);
  int32_t span = 15360 - band->pole2;
  band->pole1 = limited((same1 ? 192 : -192) + band->pole1 + (-band->pole1 >> 8), -span, span);
}

// UPZERO, and the differences move on. `turn` is -1 in lanes whose difference has the other sign.
INLINE void adapt_zeros(struct band *band, int32_t difference) {
  ints4 *zeros = band->zeros, *doubled = band->doubled;
  ints4 sign = (ints4){0} + (difference >> 31), pull = (ints4){0} + (difference == 0 ? 0 : 128);
  ints4 rest = {-1, -1, 0, 0};
  ints4 turn0 = sign ^ (doubled[0] >> 31), turn1 = sign ^ (doubled[1] >> 31);
  zeros[0] += (-zeros[0] >> 8) + ((pull ^ turn0) - turn0);
  zeros[1] += (-zeros[1] >> 8) + (((pull ^ turn1) - turn1) & rest);
  ints4 old0 = doubled[0], old1 = doubled[1];
  doubled[0] = (ints4){2 * difference, old0[0], old0[1], old0[2]};
  doubled[1] = (ints4){old0[3], old1[0], 0, 0};
}

// FILTEP, FILTEZ, PREDIC.
INLINE void predict(struct band *band, int32_t signal) {
  int32_t poles = band->pole1 * clamp16(2 * signal) >> 15;
  poles += band->pole2 * clamp16(2 * band->signal1) >> 15;
  ints4 parts = (band->zeros[0] * band->doubled[0] >> 15) + (band->zeros[1] * band->doubled[1] >> 15);
  band->zero_part = clamp16(whole_of_lanes4(parts));
  band->prediction = clamp16(clamp16(poles) + band->zero_part);
  band->signal1 = signal;
}

// LOGSCL and SCALEL (LOGSCH and SCALEH), then the predictor.
INLINE void adapt(struct band *band, int32_t difference, int32_t scale, int32_t log_max, int32_t shift) {
  band->log = limited((band->log * 127 >> 7) + scale, 0, log_max);
  // The exponent reaches one more than `shift`.
  int32_t mantissa = 2 * inverse_log[band->log >> 6 & 31];
  band->step = mantissa >> (shift + 1 - (band->log >> 11)) << 2;
  int32_t signal = clamp16(band->prediction + difference), partial = clamp16(band->zero_part + difference);
  adapt_poles(band, partial);
  adapt_zeros(band, difference);
  predict(band, signal);
  band->partial2 = band->partial1;
  band->partial1 = partial;
}

// The two least significant bits do not matter here: they may have been used for data.
INLINE void adapt_low(struct band *band, int32_t code) {
  int32_t coarse = code >> 2;
  adapt(band, band->step * low_coarse[coarse] >> 15, low_scales[coarse], LOW_LOG_MAX, LOW_SHIFT);
}

// Gives the difference that `code` stands for.
INLINE int32_t adapt_high(struct band *band, int32_t code) {
  int32_t difference = band->step * high_values[code] >> 15;
  adapt(band, difference, high_scales[code], HIGH_LOG_MAX, HIGH_SHIFT);
  return difference;
}

// The number of levels that are not above `reach`: a lane that compares as true is -1.
INLINE int32_t levels_within(int32_t reach) {
  shorts8 most = (shorts8){0} + (int16_t)limited(reach, 0, BEYOND), within = {0};
  for (int i = 0; i < 32; i += 8) within += load8(low_levels + i) <= most;
  return whole_of_lanes4(products8(within, (shorts8){0} - 1));
}

INLINE int32_t encode_low(struct band *band, int32_t sample) {
  int32_t error = clamp16(sample - band->prediction), below = error >> 31, magnitude = error ^ below;
  // Reaches a level if (level * step) >> 12 <= magnitude; a quotient tells of all levels at once.
  int32_t reach = (((magnitude + 1) << 12) - 1) / band->step, level = levels_within(reach);
  int32_t code = !below ? 61 - level : level < 2 ? 63 - level : 33 - level;
  adapt_low(band, code);
  return code;
}

INLINE int32_t encode_high(struct band *band, int32_t sample) {
  int32_t error = clamp16(sample - band->prediction), below = error >> 31, magnitude = error ^ below;
  int32_t code = (below ? 0 : 2) + (magnitude >= HIGH_LEVEL * band->step >> 12 ? 0 : 1);
  adapt_high(band, code);
  return code;
}

// The state of a stream that has not begun.
EXPORT("g722Begin") void g722_begin(void) {
  state = (struct direction){0};
  state.low.step = 32;
  state.high.step = 8;
}

static void keep_past(int32_t bytes) {
  for (int i = 0; i < PAST; i++) state.past[i] = line[2 * bytes + i];
}

// Encodes twice `bytes` samples.
EXPORT("g722Encode") void g722_encode(int32_t bytes) {
  for (int i = 0; i < PAST; i++) line[i] = state.past[i];
  for (int i = 0; i < 2 * bytes; i++) line[PAST + i] = samples[i];
  struct band low = state.low, high = state.high;
  for (int i = 0; i < bytes; i++) {
    const int16_t *window = line + 2 * i;
    int32_t code = encode_low(&low, mirrored(window, mirror_sum) >> 14);
    payload[i] = (uint8_t)(encode_high(&high, mirrored(window, mirror_difference) >> 14) << 6 | code);
  }
  state.low = low;
  state.high = high;
  keep_past(bytes);
}

// Decodes to twice `bytes` samples.
EXPORT("g722Decode") void g722_decode(int32_t bytes) {
  for (int i = 0; i < PAST; i++) line[i] = state.past[i];
  struct band low = state.low, high = state.high;
  for (int i = 0; i < bytes; i++) {
    int32_t code = payload[i] & 63;
    int32_t lower = limited(low.prediction + (low.step * low_values[code] >> 15), -16384, 16383);
    adapt_low(&low, code);
    int32_t predicted = high.prediction;
    int32_t upper = limited(predicted + adapt_high(&high, payload[i] >> 6), -16384, 16383);
    line[PAST + 2 * i] = (int16_t)(lower + upper);
    line[PAST + 2 * i + 1] = (int16_t)(lower - upper);
  }
  state.low = low;
  state.high = high;
  for (int i = 0; i < bytes; i++) {
    const int16_t *window = line + 2 * i;
    samples[2 * i] = (int16_t)clamp16(mirrored(window, mirror_odd) >> 11);
    samples[2 * i + 1] = (int16_t)clamp16(mirrored(window, mirror_even) >> 11);
  }
  keep_past(bytes);
}
