// The text of a Prometheus registry, read while calls run: in pieces, one reading after the other.

import type { MetricObjectWithValues, MetricValue, Registry } from 'prom-client';
import { nextTick, systemClock } from '../std/clock.ts';

export type MetricSample = MetricObjectWithValues<MetricValue<string>>;

/** Reading is interrupted after so long, as all of it takes 4 to 12 ms with 2,000 sockets, most of which asks the kernel. */
const READING_MS_MAX = 1;

/** The text of a registry for Prometheus, read so that calls do not wait. */
export async function metricsText(from: Registry): Promise<string> {
  const texts = await inPieces(from, (name) => from.getSingleMetricAsString(name));
  return `${texts.join('\n\n')}\n`;
}

/** The metrics of a registry, read so that calls do not wait. */
export async function metricsOf(from: Registry): Promise<MetricSample[]> {
  const all = await inPieces(from, async (name) => from.getSingleMetric(name)?.get());
  return all.filter((metric) => metric !== undefined);
}

/** The last reading of each registry: some metrics are set, and begin anew, when another is read. */
const readings = new WeakMap<Registry, Promise<unknown>>();

/** One reading after the other. */
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
