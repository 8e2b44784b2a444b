// The speech detector: its memory, and which instruction set's forward pass (vad-network.c) is in use. The
// portable version is src/audio/vad-portable.ts.

#include "vad.h"

#include "kernel.h"
#include "vad-network.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

static SHARED struct vad_weights weights;
static SHARED struct vad_stream streams[STREAMS_MAX];
static SHARED struct vad_batch batch;
static SHARED struct vad_packed packed;

static const struct vad_network *network = &vad_network_base;

EXPORT("vadWeights") float *vad_weights(void) { return (float *)&weights; }
EXPORT("vadWeightsBytes") int32_t vad_weights_bytes(void) { return sizeof weights; }
EXPORT("vadStreamsMax") int32_t vad_streams_max(void) { return STREAMS_MAX; }
EXPORT("vadBatchMax") int32_t vad_batch_max(void) { return BATCH_MAX; }
EXPORT("vadHeardSamples") int32_t vad_heard_samples(void) { return HEARD_SAMPLES; }
EXPORT("vadWindows") int16_t *vad_windows(void) { return batch.windows[0]; }
EXPORT("vadSlots") int32_t *vad_slots(void) { return batch.slots; }
EXPORT("vadProbabilities") float *vad_probabilities(void) { return batch.probabilities; }

static const struct vad_network *network_for(int32_t instructions) {
#if defined(__x86_64__)
  if (instructions == 3) return &vad_network_amx;
  if (instructions == 2) return &vad_network_avx512;
  if (instructions == 1) return &vad_network_avx2;
#endif
  return instructions == 0 ? &vad_network_base : 0;
}

#if defined(__x86_64__)
// Tiles are there where the operating system has them and, asked for them, lets the process use them.
static int has_tiles(void) {
  enum { LEAF = 7, AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  unsigned a, b, c, d;
  if (!__get_cpuid_count(LEAF, 0, &a, &b, &c, &d) || !(d & AMX_BF16) || !(d & AMX_TILE)) return 0;
  return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}
#endif

static int32_t most_instructions(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) return has_tiles() ? 3 : 2;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 1;
#endif
  return 0;
}

// The most that this processor has: 0 what the build takes for granted, 1 AVX2 and FMA, 2 AVX-512, 3 AMX-BF16.
EXPORT("vadInstructions") int32_t vad_instructions(void) {
  static int32_t most = -1;
  if (most < 0) most = most_instructions();
  return most;
}

// Takes the weights that were written, for these instructions (0 to vadInstructions); 0 if there are none.
EXPORT("vadPrepare") int32_t vad_prepare(int32_t instructions) {
  const struct vad_network *found = network_for(instructions);
  if (!found || instructions > vad_instructions()) return 0;
  network = found;
  packed = (struct vad_packed){0}; // what no weight is put to counts as well
  network->pack(&weights, &packed);
  return 1;
}

// The caller keeps `slot` within 0..STREAMS_MAX-1.
EXPORT("vadClear") void vad_clear(int32_t slot) { streams[slot] = (struct vad_stream){0}; }

// Hears the first `count` (up to BATCH_MAX) windows, each of another stream.
EXPORT("vadHear") void vad_hear(int32_t count) {
  network->hear(&weights, &packed, streams, &batch, count);
}
