// Aggregates the metrics of all processes of a gateway into one text: each process has its value of the label `worker`
// (`supervisor`, `api`, `1`, ...), as each machine has one of `instance`. Counters of a restarted process then restart
// as series of their own, which Prometheus handles; in a sum the restart would look like a burst.

import { AggregatorRegistry, type Registry } from 'prom-client';
import { z } from 'zod';
import type { Log } from '../log.ts';
import { type MetricSample, metricsOf } from '../metrics/exposition.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { processName } from './ipc-message.ts';

/** Deadline of a process's reply; a process that is too busy is omitted. */
const REPLY_MS_MAX = 1_000;

const metricList = z.array(z.looseObject({ name: z.string() }));

/** Answers requests for this process's metrics. */
export function shareMetrics(link: IpcChannel, registry: Registry): void {
  link.onRequest('figures', () => labelled(link, registry));
}

/** The text for Prometheus: the metrics of this process and of those `others` that answer. */
export async function aggregateMetrics(
  link: IpcChannel,
  { registry, others, log }: { registry: Registry; others: readonly number[]; log: Log },
): Promise<string> {
  const asked = others.map(async (worker) => {
    try {
      return metricList.parse(await link.request(worker, 'figures', {}, REPLY_MS_MAX));
    } catch (error) {
      log.warn({ err: error, worker }, 'a process reported no metrics');
      return [];
    }
  });
  const own = metricList.parse(await labelled(link, registry));
  const all = [own, ...(await Promise.all(asked))];
  // No two processes have a series in common, so nothing is summed.
  const kept = all.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: 'sum' })));
  return AggregatorRegistry.aggregate(kept).metrics();
}

async function labelled({ address }: IpcChannel, registry: Registry): Promise<MetricSample[]> {
  const metrics = await metricsOf(registry);
  const worker = processName(address);
  return metrics.map((metric) => ({
    ...metric,
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } })),
  }));
}
