// Aggregates the metrics of all processes of a gateway into one text: each process has its value of the label `worker`
// (`supervisor`, `api`, `1`, ...), as each machine has one of `instance`. Counters of a restarted process then restart
// as series of their own, which Prometheus handles; in a sum the restart would look like a burst.

import { AggregatorRegistry, type Registry } from 'prom-client';
import { z } from 'zod';
import type { Log } from '../log.ts';
import { type MetricSample, metricsOf, seriesOf } from '../metrics/exposition.ts';
import { type SampledMetric, sampledMetrics } from '../metrics/metric-history.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { processName } from './ipc-message.ts';

/** Deadline of a process's reply; a process that is too busy is omitted. */
const REPLY_MS_MAX = 1_000;

/** Names of the series that are asked for; left out: all. */
const wanted = z.object({ names: z.array(z.string()).optional() });
const metricList = z.array(z.looseObject({ name: z.string() }));

interface Processes {
  registry: Registry;
  /** Numbers of the other processes. */
  others: readonly number[];
  log: Log;
}

/** Answers requests for this process's metrics. */
export function shareMetrics(link: IpcChannel, registry: Registry): void {
  link.onRequest('figures', (body) => labelled(link, registry, wanted.parse(body).names));
}

/** The text for Prometheus: the metrics of this process and of those `others` that answer. */
export async function aggregateMetrics(link: IpcChannel, processes: Processes): Promise<string> {
  const all = await collected(link, processes, metricList);
  // No two processes have a series in common, so nothing is summed.
  const kept = all.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: 'sum' })));
  return AggregatorRegistry.aggregate(kept).metrics();
}

/** Some series of this process and of those `others` that answer. */
export async function sampleMetrics(
  link: IpcChannel,
  processes: Processes,
  names: readonly string[],
): Promise<SampledMetric[]> {
  return (await collected(link, processes, sampledMetrics, names)).flat();
}

/** The metrics of each process that answers. */
async function collected<T>(
  link: IpcChannel,
  { registry, others, log }: Processes,
  schema: z.ZodType<T[]>,
  names?: readonly string[],
): Promise<T[][]> {
  const body = names === undefined ? {} : { names };
  const asked = others.map(async (worker) => {
    try {
      return schema.parse(await link.request(worker, 'figures', body, REPLY_MS_MAX));
    } catch (error) {
      log.warn({ err: error, worker }, 'a process reported no metrics');
      return [];
    }
  });
  return [schema.parse(await labelled(link, registry, names)), ...(await Promise.all(asked))];
}

async function labelled(
  { address }: IpcChannel,
  registry: Registry,
  names?: readonly string[],
): Promise<MetricSample[]> {
  const metrics = await (names === undefined ? metricsOf(registry) : seriesOf(registry, names));
  const worker = processName(address);
  return metrics.map((metric) => ({
    ...metric,
    values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, worker } })),
  }));
}
