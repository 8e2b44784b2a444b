import { expect, it } from 'vitest';
import { benchPipeline } from './pipeline.ts';

it('the benchmark of the pipeline runs', async () => {
  const { inbound, outbound, idle, noise } = await benchPipeline(100);
  for (const cost of [inbound, outbound, idle, noise]) {
    expect(cost.frames).toBe(100);
    expect(cost.microseconds).toBeGreaterThan(0);
  }
});
