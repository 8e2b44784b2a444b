import { expect, it } from 'vitest';
import { benchPipeline } from './pipeline.ts';

it('the benchmark of the pipeline runs', async () => {
  const { inbound, outbound, idle } = await benchPipeline(100);
  for (const cost of [inbound, outbound, idle]) {
    expect(cost.frames).toBe(100);
    expect(cost.microseconds).toBeGreaterThan(0);
  }
});
