// One gateway without Redis and S3, of this checkout and of another one, by turns on this machine: cold start, idle
// memory, calls a core. What others use of the machine hits both alike; the medians are compared.
// Run: npx tsx test/bench/gateways/against-base.ts --base FOLDER [--rounds 5] [--calls 100] [--seconds 20] [--json FILE]

import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureLoad, warmUp } from '../../load/figures/measure.ts';
import { startOwnGateway } from '../../load/load-target.ts';
import { idleFigures } from '../idle-figures.ts';
import { machine } from '../machine.ts';
import { median } from '../median.ts';

const WARM_UP_SECONDS = 10;
/** The gateway and its callers are kept apart. */
const [GATEWAY_CORE, CLIENT_CORE] = ['0', '1'];

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    calls: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '20' },
    json: { type: 'string' },
  },
});

type Figures = Record<string, number>;

await main();

async function main(): Promise<void> {
  const base = resolve(values.base ?? '');
  if (values.base === undefined || !existsSync(join(base, 'dist/main.js'))) {
    throw new Error('--base names a checkout that is built');
  }
  const builds = { base, now: process.cwd() };
  const rounds: Record<keyof typeof builds, Figures[]> = { base: [], now: [] };
  for (let round = 0; round < Number(values.rounds); round++) {
    const order = ['base', 'now'] as const;
    for (const name of round % 2 === 0 ? order : order.toReversed()) {
      const figures = await measure(builds[name]);
      rounds[name].push(figures);
      console.log(`round ${round + 1}, ${name}: ${JSON.stringify(figures)}`);
    }
  }
  const names = Object.keys(rounds.now[0] ?? {});
  const of = (all: readonly Figures[], name: string): number =>
    median(all.map((each) => each[name] ?? Number.NaN));
  const table = names.map((name) => {
    const [before, after] = [of(rounds.base, name), of(rounds.now, name)];
    return { figure: name, before, after, ratio: Number((after / before).toFixed(3)) };
  });
  console.table(table);
  if (values.json !== undefined) {
    const report = { at: new Date().toISOString(), machine: machine(), table, rounds };
    writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
  }
}

async function measure(checkout: string): Promise<Figures> {
  const { startMs, pssMb } = await idleFigures(checkout);
  const memory = Object.fromEntries(pssMb.map((each) => [`idle ${each.role} (MB)`, each.pssMb]));
  const target = await startOwnGateway({
    scenario: 'talk',
    workers: undefined,
    cores: GATEWAY_CORE,
    isSignUpOpen: false,
    checkout,
  });
  try {
    const options = {
      scenario: 'talk' as const,
      calls: Number(values.calls),
      callsPerSecond: 20,
      interruptionsPerSecond: 1,
      leadMs: 80,
      cores: CLIENT_CORE,
      hostilePerSecond: 0,
    };
    await warmUp(target, { ...options, seconds: WARM_UP_SECONDS });
    const load = await measureLoad(target, { ...options, seconds: Number(values.seconds) });
    const percent = load.gatewayCpuPerCallPercent ?? Number.NaN;
    return {
      'cold start (ms)': startMs,
      ...memory,
      'CPU of a call (% of a core)': round(percent),
      'calls a core': Math.round(100 / percent),
      'memory of a call (kB)': Math.round(load.gatewayRssPerCallKb ?? Number.NaN),
      'lateness p99 (ms)': round(load.latenessP99Ms ?? Number.NaN),
    };
  } finally {
    await target.stop();
  }
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
