import { describe, expect, it } from 'vitest';
import { benchRecordings } from './recordings.ts';

describe.runIf(process.platform === 'linux')('the benchmark of recordings', () => {
  it('runs, and writes far less often than audio comes', async () => {
    const cost = await benchRecordings({ calls: 3, seconds: 1 });
    expect(cost.calls).toBe(3);
    expect(cost.cpuPercentOf1000Calls).toBeGreaterThan(0);
    expect(cost.writes).toBeLessThan(50);
  });
});
