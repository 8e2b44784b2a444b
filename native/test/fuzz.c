// The kernels on random input, under the address and undefined-behaviour sanitizers; a test compiles and runs
// it. Every sample, slot, count and ratio that the TypeScript side may ask for is asked for here; weights are
// as wide as a network's could be. Says how much it did, or dies.

#include <stdio.h>
#include <stdlib.h>

#include "../src/g722.h"
#include "../src/resample.h"
#include "../src/vad.h"

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t chance(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}

static int below(int count) { return (int)(chance() % (uint32_t)count); }

static int16_t sample(int kind) {
  if (kind == 0) return (int16_t)chance();
  if (kind == 1) return below(2) ? 32767 : -32768;
  return 0;
}

static void require(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void fuzz_vad(int32_t instructions, int rounds) {
  float *weights = vad_weights();
  for (int i = 0; i < vad_weights_bytes() / 4; i++) weights[i] = (float)(below(2001) - 1000) / 500;
  require(vad_prepare(instructions), "the processor's own instructions are refused");
  for (int round = 0; round < rounds; round++) {
    int count = 1 + below(BATCH_MAX), first = below(STREAMS_MAX - count + 1);
    for (int i = 0; i < count; i++) {
      int kind = below(3);
      vad_slots()[i] = first + i;
      for (int n = 0; n < HEARD_SAMPLES; n++) vad_windows()[i * HEARD_SAMPLES + n] = sample(kind);
    }
    if (below(4) == 0) vad_clear(first + below(count));
    vad_hear(count);
    for (int i = 0; i < count; i++) {
      float p = vad_probabilities()[i];
      require(p >= 0 && p <= 1, "no probability");
    }
  }
}

// The ratios of 8, 16, 24 and 48 kHz, and the taps that src/audio/resample/resample-filter.ts gives them.
static const struct {
  int up, down, taps;
} ratios[] = {{2, 1, 32}, {3, 1, 32}, {6, 1, 32}, {3, 2, 32}, {1, 2, 64}, {1, 3, 96}, {1, 6, 192}, {2, 3, 48}};

static void fuzz_resample(int rounds) {
  enum { COUNT = sizeof ratios / sizeof *ratios, BLOCK_SAMPLES = 960 };
  for (int ratio = 0; ratio < COUNT; ratio++) {
    // As large as rows may be: their magnitudes sum up to less than 4.
    int most = 65535 / ratios[ratio].taps;
    for (int i = 0; i < ratios[ratio].up * ratios[ratio].taps; i++) {
      resample_weights(ratio)[i] = (int16_t)(most - below(4) * below(most / 2 + 1));
    }
  }
  for (int round = 0; round < rounds; round++) {
    int ratio = below(COUNT), up = ratios[ratio].up, taps = ratios[ratio].taps;
    int count = below(4) ? 1 + below(BLOCK_SAMPLES) : BLOCK_SAMPLES, kind = below(3);
    for (int i = 0; i < taps - 1 + count; i++) resample_line()[i] = sample(kind);
    resample_cursor()[0] = below(2) ? 0 : below(6);
    resample_cursor()[1] = below(up);
    int made = resample_block(ratio, count, up, ratios[ratio].down, taps);
    require(made >= 0 && made <= BLOCK_SAMPLES * up + up, "more samples than there is room for");
  }
}

// Both directions from their begin on, with blocks of every length; what is decoded is in turn random.
static void fuzz_g722(int rounds) {
  for (int round = 0; round < rounds; round++) {
    int decodes = below(2), kind = below(3);
    g722_begin();
    for (int block = 0; block < 20; block++) {
      int bytes = below(4) ? below(g722_bytes_max() + 1) : g722_bytes_max();
      for (int i = 0; i < bytes; i++) g722_payload()[i] = (uint8_t)chance();
      for (int i = 0; i < 2 * bytes; i++) g722_samples()[i] = sample(kind);
      if (decodes) g722_decode(bytes);
      else g722_encode(bytes);
    }
  }
}

int main(void) {
  require(!vad_prepare(-1) && !vad_prepare(vad_instructions() + 1), "unknown instructions are taken");
  for (int32_t set = 0; set <= vad_instructions(); set++) fuzz_vad(set, 60);
  fuzz_resample(2000);
  fuzz_g722(200);
  printf("%d sets of instructions, resampling, G.722: sound\n", vad_instructions() + 1);
  return 0;
}
