// The metrics are read in pieces: what is asked of the kernel takes long with many sockets.

import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { metricsText } from '../../src/metrics/exposition.ts';

it("gives the registry's own text, and yields to the event loop between two metrics", async () => {
  const registry = new Registry();
  const registers = [registry];
  let turns = 0;
  const look = () => {
    turns += 1;
    if (turns < 1_000) setImmediate(look);
  };
  const seen: number[] = [];
  for (let nth = 0; nth < 5; nth++) {
    new Gauge({
      name: `slow_${nth}`,
      help: 'Slow',
      registers,
      collect() {
        seen.push(turns);
        const untilMs = performance.now() + 2;
        while (performance.now() < untilMs);
        this.set(nth);
      },
    });
  }
  new Counter({ name: 'calls_total', help: 'Calls', labelNames: ['x'], registers }).inc({ x: 'y' });
  new Histogram({ name: 'late', help: 'Late', registers, buckets: [1] }).observe(0.5);
  setImmediate(look);
  expect(await metricsText(registry)).toBe(await registry.metrics());
  expect(seen.slice(0, 5)).toEqual([...new Set(seen.slice(0, 5))]);
});

it('finishes one reading before it begins another', async () => {
  const registry = new Registry();
  const registers = [registry];
  const steps: string[] = [];
  for (const name of ['first', 'second']) {
    new Gauge({
      name,
      help: name,
      registers,
      async collect() {
        await new Promise((resolve) => setTimeout(resolve, 5));
        steps.push(name);
      },
    });
  }
  await Promise.all([metricsText(registry), metricsText(registry)]);
  expect(steps).toEqual(['first', 'second', 'first', 'second']);
});
