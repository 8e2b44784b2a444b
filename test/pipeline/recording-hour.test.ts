// The two channels of a recording stay together for an hour, whatever the clocks do.

import { describe, expect, it } from 'vitest';
import { MINUTES, recordHour } from './hour.ts';

describe('a recording of an hour', () => {
  it.each([
    { ppm: 100, timestamps: true },
    { ppm: -100, timestamps: true },
    { ppm: 60, timestamps: false },
  ])(
    'has both channels aligned to 20 ms: %o',
    async (options) => {
      const hour = await recordHour(options);
      expect(hour.heard).toBeGreaterThan(MINUTES * 5.5);
      expect(hour.said).toBe(hour.spoken);
      expect(hour.spreadMs).toBeLessThanOrEqual(20);
    },
    60_000,
  );
});
