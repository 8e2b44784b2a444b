import { expect, it } from 'vitest';
import { framesIn, registry } from '../../src/metrics/metrics.ts';

async function shown(): Promise<number> {
  const text = await registry.getSingleMetricAsString('gateway_frames_in_total');
  return Number(/^gateway_frames_in_total (\d+)$/m.exec(text)?.[1]);
}

it('shows each frame once, however often it is looked', async () => {
  const before = await shown();
  framesIn.inc();
  framesIn.inc();
  expect(await shown()).toBe(before + 2);
  expect(await shown()).toBe(before + 2);
  framesIn.inc();
  expect(await shown()).toBe(before + 3);
});
