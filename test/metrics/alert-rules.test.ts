import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import '../../src/metrics/api-metrics.ts';
import '../../src/metrics/line-metrics.ts';
import '../../src/metrics/speech-metrics.ts';
import '../../src/metrics/store-metrics.ts';
import { type AlertRule, alertRules, watchedSeries } from '../../src/metrics/alert-rules.ts';
import { AlertStates } from '../../src/metrics/alert-states.ts';
import { MetricHistory, type SampledMetric } from '../../src/metrics/metric-history.ts';
import { registry } from '../../src/metrics/metrics.ts';

/** The rules of the file: name, expression, wait, severity. */
const written = readFileSync('grafana/alerts.yml', 'utf8')
  .split('- alert: ')
  .slice(1)
  .map((text) => ({
    name: text.split('\n')[0],
    expression: /expr:(?: >-)?\s([\s\S]*?)\n {8}(?:for|labels):/.exec(text)?.[1] ?? '',
    wait: /for: (\d+)m/.exec(text)?.[1] ?? '0',
    severity: /severity: (\w+)/.exec(text)?.[1],
  }));

const MINUTE_MS = 60_000;
type Labels = Record<string, string>;

/** A gateway whose metrics are sampled each half minute. */
function watched() {
  const history = new MetricHistory(10 * MINUTE_MS);
  const alerts = new AlertStates();
  let nowMs = 1_000_000;
  return {
    sample(...metrics: SampledMetric[]) {
      nowMs += MINUTE_MS / 2;
      history.add(nowMs, metrics);
      alerts.evaluate(history, nowMs);
    },
    alert: (name: string) => alerts.all.find((each) => each.name === name),
    nowMs: () => nowMs,
  };
}

function metric(type: string, name: string, ...series: [Labels, number][]): SampledMetric {
  return { name, type, values: series.map(([labels, value]) => ({ labels, value })) };
}
const counter = (name: string, ...series: [Labels, number][]) => metric('counter', name, ...series);
const gauge = (name: string, ...series: [Labels, number][]) => metric('gauge', name, ...series);
function histogram(name: string, labels: Labels, buckets: [string, number][]): SampledMetric {
  const values = buckets.map(([le, value]) => ({
    labels: { ...labels, le },
    value,
    metricName: `${name}_bucket`,
  }));
  return { name, type: 'histogram', values };
}

describe('the alert rules of a gateway', () => {
  it('are those of Prometheus, in their order, with their waits and severities', () => {
    const own = ({ name, forMs, severity }: AlertRule) => [name, forMs / MINUTE_MS, severity];
    expect(alertRules.map(own)).toEqual(
      written.map(({ name, wait, severity }) => [name, Number(wait), severity]),
    );
  });

  it('have the bounds of Prometheus', () => {
    for (const { name, expression } of written) {
      const bound = alertRules.find((rule) => rule.name === name)?.bound;
      const wanted = [...expression.matchAll(/(==|>) ([\d.]+)/g)].map(([, sign, value]) =>
        sign === '==' ? { is: Number(value) } : { above: Number(value) },
      );
      expect(wanted, name).toContainEqual(bound);
    }
  });

  it('read metrics that exist, each of a rule', () => {
    const known = registry.getMetricsAsArray().map(({ name }) => name);
    const metricOf = (series: string) => series.replace(/_(bucket|count)$/, '');
    const unknown = watchedSeries.filter((name) => !known.includes(metricOf(name)));
    expect(unknown.filter((name) => !known.includes(name))).toEqual([]);
    const all = written.map(({ expression }) => expression).join('\n');
    expect(watchedSeries.filter((name) => !all.includes(name))).toEqual([]);
  });

  it('say of what no gateway can see that Prometheus does it', () => {
    const { alert } = watched();
    for (const name of ['GatewayDown', 'MediaSpliced'])
      expect(alert(name)).toMatchObject({ state: 'elsewhere', detail: expect.any(String) });
  });
});

describe('an alert', () => {
  const Name = 'patchbay_service_circuit_open';
  const open = (count: number) => gauge(Name, [{ service: 'deepgram', worker: '1' }, count]);

  it('of a gauge is pending beyond its bound, fires after its wait, and ends at once', () => {
    const { sample, alert, nowMs } = watched();
    sample(open(0));
    expect(alert('FallbackInUse')).toMatchObject({ state: 'quiet', sinceMs: null, detail: null });
    sample(open(2));
    const sinceMs = nowMs();
    for (let minutes = 0.5; minutes < 5; minutes += 0.5) sample(open(2));
    expect(alert('FallbackInUse')).toMatchObject({ state: 'pending', sinceMs });
    sample(open(2));
    expect(alert('FallbackInUse')).toMatchObject({
      state: 'firing',
      sinceMs,
      detail: 'deepgram: 2',
    });
    sample(open(0));
    expect(alert('FallbackInUse')?.state).toBe('quiet');
  });

  it('of a line says what corrects its fault', () => {
    const { sample, alert } = watched();
    const fault = (code: string, remedy: string): [Labels, number] => [
      { line: '7', kind: 'number', fault: code, remedy, worker: '0' },
      1,
    ];
    sample(gauge('patchbay_line_fault'));
    expect(alert('LineFails')).toMatchObject({ state: 'quiet' });
    sample(gauge('patchbay_line_fault', fault('keys', 'Set dtmf_mode.')));
    expect(alert('LineFails')).toMatchObject({
      state: 'firing',
      remedy: 'Set dtmf_mode.',
      detail: '7 number keys: 1',
    });
  });

  it('waits anew for each series', () => {
    const { sample, alert } = watched();
    const of = (service: string) => gauge(Name, [{ service, worker: '1' }, 1]);
    for (let minutes = 0; minutes < 4; minutes += 0.5) sample(of('deepgram'));
    for (let minutes = 0; minutes < 4; minutes += 0.5) sample(of('soniox'));
    expect(alert('FallbackInUse')?.state).toBe('pending');
  });

  const lost = (value: number, worker = '1') =>
    counter('patchbay_events_stored_total', [{ result: 'lost', worker }, value]);
  const other = counter('patchbay_webhooks_total', [{ result: 'ok', worker: '1' }, 1]);

  it('of a counter fires for ten minutes after it has grown', () => {
    const { sample, alert } = watched();
    sample(lost(7));
    sample(lost(7));
    expect(alert('EventsLost')?.state).toBe('quiet');
    sample(lost(9));
    for (let minutes = 0; minutes < 9.5; minutes += 0.5) sample(lost(9));
    expect(alert('EventsLost')).toMatchObject({ state: 'firing', detail: '2' });
    sample(lost(9));
    expect(alert('EventsLost')?.state).toBe('quiet');
  });

  it('counts the first value of a series of a process that is known, and of a restarted one', () => {
    const { sample, alert } = watched();
    sample(other);
    sample(other, lost(3));
    expect(alert('EventsLost')?.detail).toBe('3');
    sample(lost(2));
    expect(alert('EventsLost')?.detail).toBe('5');
  });

  it('does not count what a process had before it was seen, or while it did not answer', () => {
    const { sample, alert } = watched();
    sample(lost(3));
    sample(lost(3), lost(40, '2'));
    sample(lost(3));
    sample(lost(3), lost(40, '2'));
    expect(alert('EventsLost')?.state).toBe('quiet');
  });

  it('of a share is by what was counted together', () => {
    const { sample, alert } = watched();
    const services = (ok: number, failed: number): SampledMetric => ({
      name: 'patchbay_service_seconds',
      type: 'histogram',
      values: [
        { labels: { kind: 'llm', service: 'openai', result: 'ok', worker: '1' }, value: ok },
        { labels: { kind: 'llm', service: 'openai', result: 'x', worker: '2' }, value: failed },
        { labels: { kind: 'llm-prepare', service: 'openai', result: 'x', worker: '1' }, value: 99 },
        { labels: { kind: 'tts', service: 'flite', result: 'ok', worker: '1' }, value: ok },
      ].map((each) => ({ ...each, metricName: 'patchbay_service_seconds_count' })),
    });
    sample(services(0, 0));
    sample(services(90, 10));
    expect(alert('ServiceFails')?.state).toBe('quiet');
    sample(services(90, 20));
    expect(alert('ServiceFails')).toMatchObject({ state: 'pending', detail: 'llm openai: 18 %' });
  });

  it('of a quantile interpolates within a bucket, and is quiet without observations', () => {
    const { sample, alert } = watched();
    const bounds = ['0.1', '0.5', '1', '+Inf'];
    const store = (...counts: number[]) =>
      histogram(
        'patchbay_store_seconds',
        { result: 'ok', worker: '1' },
        bounds.map((le, at) => [le, counts[at] ?? 0]),
      );
    sample(store(0, 0, 0, 0));
    sample(store(0, 0, 0, 0));
    expect(alert('StoreSlow')?.state).toBe('quiet');
    sample(store(80, 90, 100, 100));
    // The 95th of 100 is half way between 0.5 s and 1 s.
    expect(alert('StoreSlow')).toMatchObject({ state: 'pending', detail: '0.75 s' });
    // With all in one bucket, from the bound of the empty one before it.
    const later = watched();
    later.sample(store(0, 0, 0, 0));
    later.sample(store(0, 0, 100, 100));
    expect(later.alert('StoreSlow')?.detail).toBe('0.975 s');
  });

  it('of a Redis that is away does not fire where there is none', () => {
    const { sample, alert } = watched();
    sample(other);
    expect(alert('RedisAway')?.state).toBe('quiet');
    sample(gauge('patchbay_redis_up', [{ kind: 'messages', worker: 'api' }, 0]));
    expect(alert('RedisAway')?.state).toBe('pending');
  });
});
