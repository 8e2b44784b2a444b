import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { IpcChannel } from '../../src/cluster/ipc-channel.ts';
import {
  aggregateMetrics,
  sampleMetrics,
  shareMetrics,
} from '../../src/cluster/metrics-aggregation.ts';
import { collectServiceNotes, shareServiceNotes } from '../../src/cluster/service-notes.ts';
import type { ServiceNotes } from '../../src/model/service-state.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { wires } from './linked-channels.ts';

function measured(value: number): Registry {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'calls_total', help: 'Calls', registers }).inc(value);
  const up = new Gauge({
    name: 'up',
    help: 'Up',
    registers,
    aggregator: 'omit',
    labelNames: ['x'],
  });
  up.set({ x: 'y' }, value);
  new Histogram({ name: 'late', help: 'Late', registers, buckets: [1] }).observe(value);
  return registry;
}

it('the metrics of all processes are one text, each labelled with its worker', async () => {
  const clock = new FakeClock();
  const { links, cut } = wires(3, clock);
  const [supervisor, front, second] = links as [IpcChannel, IpcChannel, IpcChannel];
  shareMetrics(supervisor, new Registry());
  const registry = measured(1);
  shareMetrics(front, registry);
  shareMetrics(second, measured(5));
  const { log, lines } = quietLog();
  const all = () => aggregateMetrics(front, { registry, others: [0, 2], log });
  const text = await all();
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples.sort()).toEqual([
    'calls_total{worker="1"} 1',
    'calls_total{worker="2"} 5',
    'late_bucket{le="+Inf",worker="1"} 1',
    'late_bucket{le="+Inf",worker="2"} 1',
    'late_bucket{le="1",worker="1"} 1',
    'late_bucket{le="1",worker="2"} 0',
    'late_count{worker="1"} 1',
    'late_count{worker="2"} 1',
    'late_sum{worker="1"} 1',
    'late_sum{worker="2"} 5',
    'up{x="y",worker="1"} 1',
    'up{x="y",worker="2"} 5',
  ]);
  expect(text.match(/# TYPE calls_total/g)).toHaveLength(1);
  // One that is gone is left out.
  cut(2);
  expect(await all()).not.toContain('worker="2"');
  expect(lines()).toHaveLength(1);
});

it('some metrics of all processes are samples, each labelled with its worker', async () => {
  const { links } = wires(3, new FakeClock());
  const [, front, second] = links as [IpcChannel, IpcChannel, IpcChannel];
  const registry = measured(1);
  shareMetrics(second, measured(5));
  const processes = { registry, others: [2], log: quietLog().log };
  const sampled = await sampleMetrics(front, processes, [
    'calls_total',
    'late_count',
    'unknown_total',
  ]);
  expect(sampled).toEqual([
    ...['1', '2'].flatMap((worker) => [
      {
        name: 'calls_total',
        type: 'counter',
        values: [{ labels: { worker }, value: worker === '1' ? 1 : 5 }],
      },
      {
        name: 'late',
        type: 'histogram',
        values: [{ labels: { worker }, value: 1, metricName: 'late_count' }],
      },
    ]),
  ]);
});

it('what the workers know of services is one list; one that is gone is left out', async () => {
  const { links, cut } = wires(3, new FakeClock());
  const [supervisor, front, second] = links as [IpcChannel, IpcChannel, IpcChannel];
  const notes = (lastSuccessMs: number): ServiceNotes => ({
    job: 'stt',
    service: 'deepgram',
    openCircuits: 0,
    openSinceMs: null,
    lastFault: null,
    lastSuccessMs,
  });
  shareServiceNotes(supervisor, { all: [notes(1)] });
  shareServiceNotes(second, { all: [notes(3)] });
  const { log, lines } = quietLog();
  const all = () => collectServiceNotes(front, { own: { all: [] }, others: [0, 2], log });
  expect(await all()).toEqual([notes(3)]);
  cut(2);
  expect(await all()).toEqual([notes(1)]);
  expect(lines()).toHaveLength(1);
});
