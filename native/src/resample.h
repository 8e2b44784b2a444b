// One block of a polyphase filter; src/audio/resample-filter.ts has its design.
#ifndef RESAMPLE_H
#define RESAMPLE_H

#include <stdint.h>

int16_t *resample_line(void);
int16_t *resample_output(void);
int32_t *resample_cursor(void);
int16_t *resample_weights(int32_t ratio);
int32_t resample_block(int32_t ratio, int32_t count, int32_t up, int32_t down, int32_t taps);

#endif
