import { expect, it } from 'vitest';
import { framesIn, registry, setBuildInfo } from '../../src/metrics/metrics.ts';

async function shown(): Promise<number> {
  const text = await registry.getSingleMetricAsString('patchbay_frames_in_total');
  return Number(/^patchbay_frames_in_total (\d+)$/m.exec(text)?.[1]);
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

it('says which build runs', async () => {
  setBuildInfo('1.2.3');
  const { version, platform, arch } = process;
  expect(await registry.getSingleMetricAsString('patchbay_build_info')).toContain(
    `{version="1.2.3",node="${version}",platform="${platform}",arch="${arch}"} 1`,
  );
});
