// The names of before, for dashboards and alert rules that still ask for them.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import '../../src/metrics/api-metrics.ts';
import { metricsText } from '../../src/metrics/exposition.ts';
import { callsStarted, registry } from '../../src/metrics/metrics.ts';
import { withOldNames } from '../../src/metrics/old-names.ts';
import { serviceSeconds } from '../../src/metrics/speech-metrics.ts';

const before = readFileSync('fixtures/metrics/names-before-patchbay.txt', 'utf8')
  .trim()
  .split('\n');

const familiesIn = (text: string): string[] =>
  [...text.matchAll(/^# TYPE (\S+) /gm)].map((match) => match[1] ?? '');

it('exports every metric of before under its old name, and each family once', async () => {
  const families = familiesIn(withOldNames(await metricsText(registry)));
  expect(before.length).toBe(55);
  expect(before.filter((name) => !families.includes(name))).toEqual([]);
  expect(new Set(families).size).toBe(families.length);
  expect(families).not.toContain('gateway_build_info');
});

it('keeps the label that Prometheus has for itself under the old name alone', async () => {
  serviceSeconds.observe({ kind: 'llm', service: 'x job="', result: 'ok' }, 1);
  const lines = withOldNames(await metricsText(registry)).split('\n');
  const counted = lines.filter((line) => /_service_seconds_count\{.*x job/.test(line));
  expect(counted).toEqual([
    'patchbay_service_seconds_count{kind="llm",service="x job=\\"",result="ok"} 1',
    'gateway_service_seconds_count{job="llm",service="x job=\\"",result="ok"} 1',
  ]);
});

it('gives both names the same series and values', async () => {
  callsStarted.inc({ provider: 'twilio', direction: 'inbound' }, 3);
  const text = await metricsText(registry);
  const lines = withOldNames(text).split('\n');
  const renamed = text
    .split('\n')
    .filter((line) => /^patchbay_(?!build_info|service_seconds)/.test(line));
  expect(renamed.length).toBeGreaterThan(20);
  const old = renamed.map((line) => line.replace('patchbay_', 'gateway_'));
  expect(lines.filter((line) => /^gateway_(?!service_seconds)/.test(line))).toEqual(old);
  expect(lines.slice(0, text.trimEnd().split('\n').length)).toEqual(text.trimEnd().split('\n'));
});

it('leaves the metrics of Node.js and of the process as they are', () => {
  const text = '# HELP up Up\n# TYPE up gauge\nup{worker="1"} 1\n';
  expect(withOldNames(text).trim()).toBe(text.trim());
});
