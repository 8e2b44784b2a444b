// `npm run load`: how many calls a gateway carries, measured at the far ends. README.md describes its options.

import { writeFileSync } from 'node:fs';
import { machine } from '../bench/machine.ts';
import { doubtsOf, missesOf } from './figures/goal.ts';
import { type CallOptions, type LoadFigures, measureLoad, warmUp } from './figures/measure.ts';
import { plotLateness } from './figures/plot.ts';
import { climb, highestHeld, medianOf, type Step } from './figures/ramp.ts';
import { measureSeries } from './figures/series.ts';
import { helpText, type LoadCommand, readCommand } from './load-options.ts';
import { type LoadTarget, ringGateway, startOwnGateway, useGateway } from './load-target.ts';
import type { OutageOptions } from './services/outages.ts';

/** One gateway and its load are kept apart; several workers share the cores with the load. */
const GATEWAY_CORE = '0';
const CLIENT_CORE = '1';

const shownInTable = [
  'calls',
  'latenessP50Ms',
  'latenessP95Ms',
  'latenessP99Ms',
  'latenessMaxMs',
  'underruns',
  'lostFrames',
  'reorderedFrames',
  'responseP95Ms',
  'bargeInP95Ms',
  'eventLoopDelayP99Ms',
  'gatewayCpuPercent',
  'gatewayRssPerCallKb',
  'clientCpuPercent',
] as const;

await main();

async function main(): Promise<void> {
  const args = process.argv.slice(2);
  if (args.includes('--help')) {
    console.log(helpText());
    return;
  }
  let command: LoadCommand;
  try {
    command = readCommand(args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 2;
    return;
  }
  if (command.scenario === 'sequence') await runSeries(command);
  else if (command.consoles > 0) await runBesideConsoles(command);
  else await runSteps(command);
}

async function runSteps(command: LoadCommand): Promise<void> {
  const { scenario, seconds, runs, json, svg } = command;
  const goalMs = command['goal-ms'];
  const isRamp = command.ramp.length > 0;
  const steps = await climb({
    counts: isRamp ? command.ramp : [command.calls],
    runs,
    goalMs,
    search: isRamp,
    measure: (calls) => measureRun(command, { ...callOptions(command), calls }),
    onRun: printRun,
  });
  for (const step of steps) printStep(step);
  const best = highestHeld(steps);
  if (isRamp) console.log(`Highest count that holds the goal: ${best?.calls ?? 'none'}`);
  const { median: figures } = best ?? (steps[0] as Step); // At least one count was measured.
  if (json !== undefined)
    write(json, { ...facts(command), goalMs, scenario, seconds, figures, steps });
  if (svg !== undefined) writeFileSync(svg, plotLateness(steps, goalMs));
}

/** The same calls without and with consoles by turns: what the machine does meanwhile comes to both. */
async function runBesideConsoles(command: LoadCommand): Promise<void> {
  const { calls, consoles, runs, json, scenario, seconds } = command;
  const goalMs = command['goal-ms'];
  const measured: Record<'without' | 'with', LoadFigures[]> = { without: [], with: [] };
  for (let run = 0; run < runs; run++) {
    for (const [name, open] of [
      ['without', 0],
      ['with', consoles],
    ] as const) {
      const figures = await measureRun(command, { ...callOptions(command), consoles: open });
      console.log(`\n${open} consoles`);
      printRun(figures);
      measured[name].push(figures);
    }
  }
  for (const [name, each] of Object.entries(measured)) {
    console.log(`\n${name} ${consoles} consoles`);
    const median = medianOf(each);
    printStep({ calls, runs: each, median, misses: missesOf(median, goalMs) });
    const gaps = each.map(({ underruns, underrunMs }) => `${underruns} (${underrunMs} ms)`);
    console.log(`  gaps of each run: ${gaps.join(', ')}`);
  }
  if (json !== undefined)
    write(json, { ...facts(command), goalMs, scenario, seconds, calls, consoles, ...measured });
}

function measureRun(command: LoadCommand, options: CallOptions): Promise<LoadFigures> {
  const warmUpSeconds = isOwnGateway(command) ? command['warm-up'] : 0;
  return withTarget(command, async (target) => {
    if (warmUpSeconds > 0) await warmUp(target, { ...options, seconds: warmUpSeconds });
    return await measureLoad(target, { ...options, seconds: command.seconds });
  });
}

async function runSeries(command: LoadCommand): Promise<void> {
  const { total, json, scenario } = command;
  const callSeconds = command['call-seconds'];
  const figures = await withTarget(command, (target) =>
    measureSeries(target, {
      ...callOptions(command),

      total,
      callSeconds,
      outages: outagesOf(command),
    }),
  );
  const { looks, before, after, ...rest } = figures;
  for (const [name, value] of Object.entries(rest)) printFigure(name, value);
  for (const [name, look] of Object.entries({ before, after })) {
    printFigure(name, JSON.stringify(look));
  }
  printFigure('looks', looks.length);
  if (json !== undefined) write(json, { ...facts(command), scenario, total, callSeconds, figures });
}

async function withTarget<T>(
  command: LoadCommand,
  work: (target: LoadTarget) => Promise<T>,
): Promise<T> {
  const target = await openTarget(command);
  try {
    return await work(target);
  } finally {
    await target.stop();
  }
}

function openTarget(command: LoadCommand): Promise<LoadTarget> {
  const { provider, scenario, workers, url, webhook } = command;
  const pid = command['gateway-pid'];
  if (webhook !== undefined) {
    const credentials = {
      ['account_sid']: command['account-sid'] ?? '',
      ['auth_token']: command['auth-token'] ?? '',
    };
    return Promise.resolve(
      ringGateway({ provider, credentials, webhookUrl: webhook, to: command.to ?? '', pid }),
    );
  }
  if (url !== undefined) {
    const base = url.replace(/\/+$/, '');
    const apiKey = command['api-key'] ?? '';
    const providerHost = command['provider-host'];
    return useGateway({ url: base, apiKey, pid, provider, scenario, providerHost });
  }
  const cores = command['gateway-cores'] ?? (isSpread(command) ? 'all' : GATEWAY_CORE);
  return startOwnGateway({
    provider,
    services: command.services,
    isBreakable: command.kill !== undefined,
    scenario,
    workers,
    loadLimit: String(command['load-limit']),
    engine: command.engine,
    isSignUpOpen: command.attack !== undefined,
    cores: cores === 'all' ? undefined : cores,
  });
}

function callOptions(command: LoadCommand): CallOptions {
  const cores = command['client-cores'] ?? (isSpread(command) ? 'all' : CLIENT_CORE);
  return {
    scenario: command.scenario,
    calls: command.calls,
    callsPerSecond: command['calls-per-second'],
    interruptionsPerSecond: command['interruptions-per-second'],
    leadMs: command['lead-ms'],
    outbound: command.outbound && {
      kind: command.outbound,
      perSecond: command['outbound-per-second'],
      seconds: command.seconds,
    },
    hostilePerSecond: command.attack === undefined ? 0 : command['hostile-per-second'],
    cores: cores === 'all' ? undefined : cores,
  };
}

function outagesOf(command: LoadCommand): OutageOptions | undefined {
  if (command.kill === undefined) return undefined;
  return {
    // Checked when the command was read.
    kill: command.kill.split(',') as OutageOptions['kill'],
    how: command['kill-how'],
    outageSeconds: command['outage-seconds'],
    recoverySeconds: command['recovery-seconds'],
  };
}

/** Whether the gateway may use more than one core. */
function isSpread(command: LoadCommand): boolean {
  return (command.workers ?? 1) > 1 || !isOwnGateway(command);
}

function isOwnGateway({ url, webhook }: LoadCommand): boolean {
  return url === undefined && webhook === undefined;
}

function facts({ provider, workers }: LoadCommand): Record<string, unknown> {
  return { at: new Date().toISOString(), machine: machine(), provider, workers: workers ?? null };
}

function write(file: string, report: unknown): void {
  writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
  console.log(`Written to ${file}`);
}

function printRun(figures: LoadFigures): void {
  console.log('');
  for (const [name, value] of Object.entries(figures)) printFigure(name, value);
  for (const doubt of doubtsOf(figures)) console.log(`  Take it with care: ${doubt}.`);
}

function printStep({ median, misses }: Step): void {
  const cells = shownInTable.map((name) => `${name} ${shown(median[name])}`);
  console.log(`\n${cells.join(', ')}`);
  console.log(misses.length === 0 ? '  holds the goal' : `  misses: ${misses.join('; ')}`);
}

function printFigure(name: string, value: unknown): void {
  console.log(`  ${name.padEnd(26)} ${shown(value)}`);
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.join('; ');
  if (typeof value === 'object') return JSON.stringify(value);
  return String(typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value);
}
