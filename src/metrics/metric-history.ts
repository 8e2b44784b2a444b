// The last minutes of some metrics of all processes of a gateway: what each series gained between two samples, for counters
// and histograms, and the last value of gauges. As Prometheus has them: a counter that falls was restarted, and the first
// value of a process counts for nothing.

import { z } from 'zod';

/** Labels of a series, `worker` among them. */
export type Labels = Readonly<Record<string, string>>;

/** Metrics of a process, as prom-client has them. */
export const sampledMetrics = z.array(
  z.object({
    name: z.string(),
    type: z.string(),
    values: z.array(
      z.object({
        labels: z.record(z.string(), z.union([z.string(), z.number()])),
        value: z.number(),
        /** Of a series of a histogram: `x_bucket`. */
        metricName: z.string().optional(),
      }),
    ),
  }),
);
export type SampledMetric = z.infer<typeof sampledMetrics>[number];

export interface Series {
  labels: Labels;
  value: number;
}

/** Series of all processes at most. Labels are bounded, so that there are some hundreds. */
const SERIES_MAX = 20_000;
/** Process of a sample that has no label for it: the only one. */
const ALONE = '';

interface Gains {
  atMs: number;
  /** By the name in Prometheus: `x_total`, `x_seconds_bucket`, `x_seconds_count`. */
  byMetric: ReadonlyMap<string, readonly Series[]>;
}

export class MetricHistory {
  readonly #keptMs: number;
  readonly #gains: Gains[] = [];
  /** Last values of counters, by metric and labels. */
  readonly #last = new Map<string, number>();
  readonly #processes = new Set<string>();
  #gauges = new Map<string, Series[]>();

  /** `keptMs`: the longest window that is asked for. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  /** Adds one sample of all processes. `atMs`: monotonic. */
  add(atMs: number, metrics: readonly SampledMetric[]): void {
    const byMetric = new Map<string, Series[]>();
    const gauges = new Map<string, Series[]>();
    const seen = new Set<string>();
    const all = metrics.flatMap(({ name, type, values }) =>
      values.map(({ metricName: metric = name, labels, value }) => ({
        isGauge: type === 'gauge',
        metric,
        labels: textsOf(labels),
        value,
      })),
    );
    for (const { isGauge, metric, labels, value } of all) {
      seen.add(labels['worker'] ?? ALONE);
      if (isGauge) push(gauges, metric, { labels, value });
      else this.#addGain(byMetric, metric, { labels, value });
    }
    for (const process of seen) this.#processes.add(process);
    this.#gauges = gauges;
    this.#gains.push({ atMs, byMetric });
    while ((this.#gains[0]?.atMs ?? atMs) < atMs - this.#keptMs) this.#gains.shift();
  }

  /** Last values of a gauge. */
  gauge(metric: string): readonly Series[] {
    return this.#gauges.get(metric) ?? [];
  }

  /** What each series of a counter gained in the last `ms`, one entry for each sample in which it gained; those
   *  of a histogram's buckets may be 0. */
  gained(metric: string, ms: number): Series[] {
    const untilMs = this.#gains.at(-1)?.atMs ?? 0;
    return this.#gains
      .filter(({ atMs }) => atMs > untilMs - ms)
      .flatMap(({ byMetric }) => byMetric.get(metric) ?? []);
  }

  #addGain(byMetric: Map<string, Series[]>, metric: string, { labels, value }: Series): void {
    const gain = this.#gained(metric, labels, value);
    // A quantile needs the empty buckets, too, for their bounds.
    if (gain > 0 || metric.endsWith('_bucket')) push(byMetric, metric, { labels, value: gain });
  }

  #gained(metric: string, labels: Labels, value: number): number {
    const key = `${metric} ${JSON.stringify(labels)}`;
    const before = this.#last.get(key);
    if (before === undefined && this.#last.size >= SERIES_MAX) return 0;
    this.#last.set(key, value);
    // A series of a known process was nothing before; that of an unknown one may be old.
    if (before === undefined) return this.#processes.has(labels['worker'] ?? ALONE) ? value : 0;
    return value < before ? value : value - before;
  }
}

/** Sums by the values of some labels. */
export function sumsBy(series: readonly Series[], by: readonly string[]): Series[] {
  const sums = new Map<string, Series>();
  for (const { labels, value } of series) {
    const kept = Object.fromEntries(by.map((name) => [name, labels[name] ?? '']));
    const key = JSON.stringify(kept);
    sums.set(key, { labels: kept, value: (sums.get(key)?.value ?? 0) + value });
  }
  return [...sums.values()];
}

/** The quantile of a histogram from what its buckets gained, by linear interpolation within a bucket, as Prometheus has
 *  it; NaN without observations. */
export function quantileOf(buckets: readonly Series[], quantile: number): number {
  const sorted = sumsBy(buckets, ['le'])
    .map(({ labels, value }) => ({ upTo: boundOf(labels['le']), count: value }))
    .sort((one, other) => one.upTo - other.upTo);
  const rank = quantile * (sorted.at(-1)?.count ?? 0);
  if (rank === 0) return Number.NaN;
  const at = sorted.findIndex(({ count }) => count >= rank);
  const { upTo, count } = sorted[at] ?? { upTo: Number.NaN, count: 0 };
  const below = sorted[at - 1] ?? { upTo: 0, count: 0 };
  if (upTo === Number.POSITIVE_INFINITY) return below.upTo;
  return below.upTo + ((upTo - below.upTo) * (rank - below.count)) / (count - below.count);
}

function boundOf(le = ''): number {
  return le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
}

function push(into: Map<string, Series[]>, metric: string, series: Series): void {
  const all = into.get(metric);
  if (all === undefined) into.set(metric, [series]);
  else all.push(series);
}

function textsOf(labels: Readonly<Record<string, unknown>>): Labels {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}
