// The network's forward pass as vad-network.c makes it once for each instruction set.
#ifndef VAD_NETWORK_H
#define VAD_NETWORK_H

#include "vad.h"

enum { HALF = 32 }; // bins of one kind: half of 64

// What one instruction set reads by 32 inputs lies so for all.
#define PADDED(depth) (((depth) + 31) / 32 * 32)

// The weights in the order in which one instruction set reads them.
struct vad_packed {
  float hann[STRETCH_SAMPLES];
  float even_cosines[PADDED(HALF + 1) * HALF], odd_cosines[HALF * HALF];
  float even_sines[HALF * HALF], odd_sines[PADDED(HALF + 1) * HALF];
  float convolution_0[WIDTH_0 * PADDED(DEPTH_0)];
  float convolution_1[WIDTH_1 * DEPTH_1];
  float convolution_2[WIDTH_2 * DEPTH_2];
  float convolution_3[WIDTH_3 * DEPTH_3];
  float gates[4 * UNITS * DEPTH_GATES];
};

struct vad_network {
  void (*pack)(const struct vad_weights *weights, struct vad_packed *packed);
  // The streams of one batch are different ones.
  void (*hear)(const struct vad_weights *weights, const struct vad_packed *packed,
               struct vad_stream *streams, struct vad_batch *batch, int count);
};

extern const struct vad_network vad_network_base;
#if defined(__x86_64__)
extern const struct vad_network vad_network_avx2, vad_network_avx512, vad_network_amx;
#endif

#endif
