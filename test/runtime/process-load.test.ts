import { describe, expect, it } from 'vitest';
import { processLoadMeter } from '../../src/runtime/process-load.ts';

describe('the load of the process', () => {
  it('is high after work and low after rest, since it was asked last', async () => {
    const meter = processLoadMeter();
    await new Promise((resolve) => setTimeout(resolve, 1));
    meter.sample();
    const until = performance.now() + 100;
    while (performance.now() < until);
    const worked = meter.sample();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const rested = meter.sample();
    expect(worked.loop).toBeGreaterThan(0.9);
    expect(worked.cpu).toBeGreaterThan(0);
    expect(rested.loop).toBeLessThan(worked.loop);
    for (const share of [worked.loop, worked.cpu, rested.loop, rested.cpu]) {
      expect(share).toBeGreaterThanOrEqual(0);
      expect(share).toBeLessThanOrEqual(1);
    }
  });
});
