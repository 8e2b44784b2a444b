// The dashboard and the alert rules against the metrics that the gateway has.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Registry } from 'prom-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import '../src/metrics/api-metrics.ts';
import '../src/metrics/line-metrics.ts';
import '../src/metrics/speech-metrics.ts';
import '../src/metrics/store-metrics.ts';
import { collectProcessMetrics, registry } from '../src/metrics/metrics.ts';

const rectangle = z.object({ x: z.number(), y: z.number(), w: z.number(), h: z.number() });
const dashboardSchema = z.object({
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.enum(['row', 'timeseries']),
      title: z.string().min(1),
      gridPos: rectangle,
      datasource: z.object({ uid: z.literal('$datasource') }).optional(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).default([]),
    }),
  ),
});

const written: unknown = JSON.parse(readFileSync('grafana/dashboards/calls.json', 'utf8'));
const dashboard = dashboardSchema.parse(written);
const expressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
const alerts = readFileSync('grafana/alerts.yml', 'utf8');
const operations = readFileSync('docs/operations.md', 'utf8');

/** As renderers of Markdown make it of a heading. */
function anchorOf(heading = ''): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}

/** Words of PromQL, of our labels and of Grafana's variables that are no metric. */
const notMetrics =
  /^(sum|max|min|abs|count|by|operation|rate|increase|histogram_quantile|le|instance|worker|version|node|provider|tool|direction|reason|code|part|outcome|source|action|result|service|kind|fault|status|route|class|kernel|instructions|feature|state|up|line|remedy)$/;

/** The metric names in an expression: identifiers outside strings, ranges and variables. */
function metricsOf(expression: string): string[] {
  const bare = expression.replace(/"[^"]*"|\[[^\]]*\]|\$\w+/g, ' ');
  const words = bare.match(/[a-zA-Z_:][\w:]*/g) ?? [];
  return [...new Set(words.filter((word) => !notMetrics.test(word)))];
}

async function families(from: Registry): Promise<{ name: string; type: string }[]> {
  const all: unknown = await from.getMetricsAsJSON();
  return z.array(z.object({ name: z.string(), type: z.string() })).parse(all);
}

let own: { name: string; type: string }[];
let known: Set<string>;

beforeAll(async () => {
  own = await families(registry);
  collectProcessMetrics();
  known = new Set(
    (await families(registry)).flatMap(({ name, type }) =>
      type === 'histogram'
        ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix)
        : type === 'summary'
          ? [name, `${name}_sum`, `${name}_count`]
          : [name],
    ),
  );
});

describe('the dashboard', () => {
  it('finds metric names, and nothing else, in an expression', () => {
    const expression =
      'histogram_quantile(0.9, sum by (le, part) (rate(a_seconds_bucket{part!="b_c"}[$__rate_interval]))) / d_total';
    expect(metricsOf(expression)).toEqual(['a_seconds_bucket', 'd_total']);
  });

  it('names no metric that does not exist', () => {
    const missing = expressions.flatMap(metricsOf).filter((name) => !known.has(name));
    expect(missing).toEqual([]);
    expect(expressions.filter((expression) => metricsOf(expression).length === 0)).toEqual([]);
  });

  it('has a panel for every metric family', () => {
    const shown = new Set(expressions.flatMap(metricsOf));
    const unseen = own.filter(
      ({ name }) => ![name, `${name}_bucket`, `${name}_count`].some((each) => shown.has(each)),
    );
    expect(unseen.map(({ name }) => name)).toEqual([]);
    expect(own.length).toBeGreaterThan(20);
  });

  it('asks the chosen data source for the chosen gateways', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance']);
    const bare = dashboard.panels.filter(({ type, datasource }) => type !== 'row' && !datasource);
    expect(bare).toEqual([]);
    expect(expressions.filter((each) => !each.includes('instance=~"$instance"'))).toEqual([]);
  });

  it('has unique ids and titles', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  });

  it('has a grid without overlaps', () => {
    const taken = new Map<string, string>();
    const overlaps: string[] = [];
    for (const { title, gridPos } of dashboard.panels) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          const other = taken.get(`${x},${y}`);
          if (other !== undefined) overlaps.push(`${other} and ${title}`);
          taken.set(`${x},${y}`, title);
        }
      }
    }
    expect(overlaps).toEqual([]);
  });

  it('is what scripts/make-dashboard.mjs writes', () => {
    const script =
      "import('./scripts/make-dashboard.mjs').then((m) => process.stdout.write(JSON.stringify(m.dashboard())))";
    const made = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(written).toEqual(JSON.parse(made.stdout));
  });
});

describe('the alert rules', () => {
  it('name no metric that does not exist', () => {
    const names = alerts.match(/\bpatchbay_\w+/g) ?? [];
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(5);
  });

  it('each name their section of docs/operations.md, and every section of an alert has its rule', () => {
    const named = [...alerts.matchAll(/- alert: (\w+)[\s\S]*?runbook: (\S+)/g)];
    const rules = (alerts.match(/- alert: \w+/g) ?? []).map((each) => each.slice(9));
    expect(named.map(([, alert, runbook]) => [alert, runbook])).toEqual(
      rules.map((alert) => [alert, `docs/operations.md#${anchorOf(alert)}`]),
    );
    const sections = operations.split(/^## /m).slice(1);
    const explained = sections.filter((section) => section.includes('**Meaning.**'));
    expect(explained.map((section) => section.split('\n')[0])).toEqual(rules);
    for (const section of explained) {
      expect(section).toMatch(
        /\*\*Meaning\.\*\* \w[\s\S]*\*\*Look at\.\*\* \S[\s\S]*\*\*Do\.\*\* \S/,
      );
    }
  });

  it('and the document names no metric and no section that does not exist', () => {
    const histograms = new Set(own.map(({ name }) => name));
    const names = (operations.match(/\bpatchbay_\w+/g) ?? []).filter(
      (name) => name !== 'patchbay_',
    );
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !known.has(name) && !histograms.has(name))).toEqual([]);
    const anchors = [...operations.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading));
    const links = [...operations.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor);
    expect(links.length).toBeGreaterThan(3);
    expect(links.filter((anchor) => !anchors.includes(anchor ?? ''))).toEqual([]);
  });

  it('are rules that Prometheus accepts', ({ skip }) => {
    requirePromtool(skip);
    const checked = spawnSync('promtool', ['check', 'rules', 'grafana/alerts.yml'], {
      encoding: 'utf8',
    });
    expect(checked.stdout + checked.stderr).toContain('SUCCESS');
    expect(checked.status).toBe(0);
  });

  // Recognisers that stream have no requests of which a share could fail: ServiceFails is silent where one is down.
  it('notice a service in whose place calls use the next one, and not one that rests for a moment', ({
    skip,
  }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_service_circuit_open',
      labels: { instance: 'gw:8000', service: 'deepgram' },
      alert: 'FallbackInUse',
      at: '9m',
      summary: 'Calls use the next service in place of deepgram',
    });
    expectAlerts([
      trial('0 0 1x10', { fires: true }),
      trial('0 1 1 0x10', { fires: false }),
      trial('0x12', { fires: false }),
    ]);
  });

  it('notice a key with all its sessions in use, also by its first call, and for ten minutes', ({
    skip,
  }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_service_key_full_total',
      labels: { instance: 'gw:8000', kind: 'stt', service: 'deepgram' },
      alert: 'KeyAtLimit',
      at: '20m',
      summary: 'A key of deepgram (stt) has all its sessions in use: calls use the next service',
    });
    expectAlerts([
      trial('_x15 1x10', { fires: true }),
      trial('1x15 2x10', { fires: true }),
      trial('1x2 2x25', { fires: false }),
      trial('3x25', { fires: false }),
    ]);
  });

  it('notice a Redis that is away for a minute, and none where there is none', ({ skip }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_redis_up',
      labels: { instance: 'gw:8000' },
      alert: 'RedisAway',
      at: '5m',
      summary: 'gw:8000 does not reach Redis: it acts without the other gateways',
    });
    expectAlerts([
      trial('1 1 1 0x10', { fires: true }),
      trial('1 1 0 1x10', { fires: false }),
      trial('_x10', { fires: false }),
    ]);
  });

  it('notice a clock that is wrong to either side, and not for a moment', ({ skip }) => {
    requirePromtool(skip);
    const trial = (at: string, summary: string) =>
      alertTrial({
        metric: 'patchbay_clock_skew_seconds',
        labels: { instance: 'gw:8000' },
        alert: 'ClockSkew',
        at,
        summary,
      });
    const differs = "The clock of gw:8000 differs from the database's by 3s";
    expectAlerts([
      trial('4m', differs)('3x10', { fires: true }),
      trial('4m', differs)('-3x10', { fires: true }),
      trial('6m', differs)('0 3 0x10', { fires: false }),
      trial('6m', differs)('1.9x10', { fires: false }),
    ]);
  });

  it('notice media that the balancer does not route, by their share', ({ skip }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_media_spliced',
      labels: {},
      alert: 'MediaSpliced',
      at: '15m',
      summary:
        '6% of media sockets are passed on to another gateway: the balancer does not read their tokens',
      others: { 'patchbay_media_sockets{worker="1"}': '100x20' },
    });
    expectAlerts([
      trial('6x20', { fires: true }),
      trial('5x20', { fires: false }),
      trial('0 6x4 0x16', { fires: false }),
    ]);
  });

  it('notice a process that was declared dead and wrote on, also by its first change', ({
    skip,
  }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_run_changes_fenced_total',
      labels: { instance: 'gw:8000' },
      alert: 'RunsFenced',
      at: '20m',
      summary: 'gw:8000 was declared dead and went on: its calls were closed while they talked',
    });
    expectAlerts([
      trial('_x15 3x10', { fires: true }),
      trial('1x15 2x10', { fires: true }),
      trial('0x25', { fires: false }),
      trial('3x25', { fires: false }),
    ]);
  });

  it('notice files that wait for S3 for ten minutes, and not those of a moment', ({ skip }) => {
    requirePromtool(skip);
    const trial = alertTrial({
      metric: 'patchbay_spool_oldest_seconds',
      labels: { instance: 'gw:8000' },
      alert: 'FilesWait',
      at: '15m',
      summary: 'A file of a call waits for S3 for 15m 0s: the disk of the gateway fills',
    });
    expectAlerts([
      trial('0+60x20', { fires: true }),
      trial('0 60 120 300 0x20', { fires: false }),
      trial('0x20', { fires: false }),
    ]);
  });

  it('notice an S3 that fails, whichever way, and not files that are not there', ({ skip }) => {
    requirePromtool(skip);
    const failing = (result: string) =>
      alertTrial({
        metric: 'patchbay_s3_seconds_count',
        labels: { instance: 'gw:8000', result },
        alertLabels: { instance: 'gw:8000' },
        alert: 'S3Fails',
        at: '15m',
        summary: '20% of the requests to S3 fail',
        others: { 'patchbay_s3_seconds_count{instance="gw:8000",result="ok"}': '0+240x20' },
      });
    for (const result of ['failed', 'timeout', 'refused']) {
      const trial = failing(result);
      expectAlerts([trial('0+60x20', { fires: true }), trial('0+20x20', { fires: false })]);
    }
    expectAlerts([failing('missing')('0+240x20', { fires: false })]);
  });

  it('and so are the expressions of the dashboard', ({ skip }) => {
    requirePromtool(skip);
    const rules = expressions.map((expression, index) => ({
      record: `check:panel_${index}`,
      expr: expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const folder = mkdtempSync(join(tmpdir(), 'grafana-'));
    const file = join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const checked = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' });
    rmSync(folder, { recursive: true });
    expect(checked.stdout + checked.stderr).toContain(`${rules.length} rules found`);
  });
});

function requirePromtool(skip: (note: string) => void): void {
  if (spawnSync('promtool', ['--version']).error === undefined) return;
  skip('promtool is not installed (Debian package prometheus)');
}

interface AlertTrial {
  metric: string;
  labels: Record<string, string>;
  alert: string;
  /** When it is looked at, from the first value on. */
  at: string;
  summary: string;
  /** Those of the alert, if it sums over others. Default: `labels`. */
  alertLabels?: Record<string, string>;
  /** Further series with their values. */
  others?: Record<string, string>;
}

/** A test of promtool: one series of a worker, with a value each minute in promtool's notation. */
function alertTrial({ metric, labels, alert, at, summary, ...more }: AlertTrial) {
  const { others = {}, alertLabels = labels } = more;
  const shown = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  const fired = {
    exp_labels: { ...alertLabels, severity: 'warn' },
    exp_annotations: { summary, runbook: `docs/operations.md#${alert.toLowerCase()}` },
  };
  return (values: string, { fires }: { fires: boolean }) => ({
    interval: '1m',
    input_series: [
      { series: `${metric}{${['worker="1"', ...shown].join(',')}}`, values },
      ...Object.entries(others).map(([series, each]) => ({ series, values: each })),
    ],
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: fires ? [fired] : [] }],
  });
}

/** By the rules that ship. */
function expectAlerts(tests: object[]): void {
  const folder = mkdtempSync(join(tmpdir(), 'alerts-'));
  const file = join(folder, 'tests.json');
  const ruleFiles = [join(process.cwd(), 'grafana/alerts.yml')];
  writeFileSync(file, JSON.stringify({ rule_files: ruleFiles, evaluation_interval: '1m', tests }));
  const checked = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(checked.stdout + checked.stderr).toContain('SUCCESS');
  expect(checked.status).toBe(0);
}
