// The Prometheus text of a registry, produced in pieces while calls run; one scrape after the other.

import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { nextTick, systemClock } from '../std/clock.ts';

export type MetricSample = MetricObjectWithValues<MetricValue<string>>;

/** Time after which the scrape yields: all of it takes 4 to 12 ms with 2,000 sockets, mostly in system calls. */
const READING_MS_MAX = 1;

/** The text of a registry for Prometheus, in pieces between which calls run. */
export async function metricsText(from: Registry): Promise<string> {
  const texts = await inPieces(from, (name) => from.getSingleMetricAsString(name));
  return `${texts.join('\n\n')}\n`;
}

/** The metrics of a registry, read in pieces between which calls run. */
export async function metricsOf(from: Registry): Promise<MetricSample[]> {
  const all = await inPieces(from, async (name) => from.getSingleMetric(name)?.get());
  return all.filter((metric) => metric !== undefined);
}

/** Some series of a registry by their names in Prometheus, such as `x_total` and `x_seconds_count`. */
export async function seriesOf(from: Registry, names: readonly string[]): Promise<MetricSample[]> {
  const wanted = new Set(names);
  const metrics = new Set(names.map((name) => name.replace(/_(bucket|count|sum)$/, '')));
  const all = await inPieces(from, async (name) =>
    metrics.has(name) || wanted.has(name) ? from.getSingleMetric(name)?.get() : undefined,
  );
  return all.flatMap((metric) => {
    if (metric === undefined) return [];
    const values = metric.values.filter(
      (each) => !('metricName' in each) || wanted.has(String(each.metricName)),
    );
    return [{ ...metric, values }];
  });
}

/** The last scrape of each registry: a scrape sets some metrics and resets others, so two must not overlap. */
const readings = new WeakMap<Registry, Promise<unknown>>();

/** Reads the metrics in pieces, one scrape after the other. */
function inPieces<T>(from: Registry, read: (name: string) => Promise<T>): Promise<T[]> {
  const before = readings.get(from)?.catch(() => undefined);
  const reading = Promise.resolve(before).then(() => readAll(from, read));
  readings.set(from, reading);
  return reading;
}

async function readAll<T>(from: Registry, read: (name: string) => Promise<T>): Promise<T[]> {
  const all: T[] = [];
  let sinceMs = systemClock.monotonicMs();
  for (const { name } of from.getMetricsAsArray()) {
    all.push(await read(name));
    if (systemClock.monotonicMs() - sinceMs < READING_MS_MAX) continue;
    await nextTick();
    sinceMs = systemClock.monotonicMs();
  }
  return all;
}
