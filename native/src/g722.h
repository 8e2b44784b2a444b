// G.722, both ways, block by block; src/codec/g722.ts has the codec around it.
#ifndef G722_H
#define G722_H

#include <stdint.h>

int32_t *g722_state(void);
int32_t g722_state_bytes(void);
int32_t g722_bytes_max(void);
int16_t *g722_samples(void);
uint8_t *g722_payload(void);
void g722_begin(void);
void g722_encode(int32_t bytes);
void g722_decode(int32_t bytes);

#endif
