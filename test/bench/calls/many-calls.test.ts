import { expect, it } from 'vitest';
import { benchManyCalls } from './many-calls.ts';

it('the benchmark of many calls runs, and every frame of them goes in and out', async () => {
  const cost = await benchManyCalls({ calls: 3, seconds: 2 });
  expect(cost.framesIn).toBe(3 * 2 * 50);
  expect(Math.abs(cost.framesOut - cost.framesIn)).toBeLessThanOrEqual(3 * 3);
  expect(cost.inMicroseconds).toBeGreaterThan(0);
  expect(cost.outMicroseconds).toBeGreaterThan(0);
}, 60_000);
