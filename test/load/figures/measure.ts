// One load measurement: all calls up, a moment to settle, then so many seconds of which everything is
// taken: what the far ends heard, and what the gateway's processes used meanwhile.

import { AttackClient, type KillFigures } from '../attack/attack-client.ts';
import type { AttackFigures } from '../attack/attack-process.ts';
import { LoadClient } from '../caller/load-client.ts';
import { clipFramesOf } from '../load-agent.ts';
import type { Scenario } from '../load-options.ts';
import type { LoadOptions } from '../load-run.ts';
import type { LoadTarget } from '../load-target.ts';
import { gatewayMetrics } from './gateway-metrics.ts';
import type { LoadSummary } from './load-summary.ts';
import {
  machineBusyMs,
  ownCores,
  type ProcessFigures,
  pin,
  processFigures,
} from './process-figures.ts';

/** From the last call's begin to the measurement: first uses are over, buffers are full. */
const SETTLE_MS = 3_000;

/** Enough to go through everything once. */
const WARM_UP_CALLS = 5;

export interface CallOptions {
  scenario: Scenario;
  calls: number;
  callsPerSecond: number;
  interruptionsPerSecond: number;
  leadMs: number;
  /** Cores of the load process in the notation of taskset; undefined: all. */
  cores: string | undefined;
  /** 0: no attack. */
  hostilePerSecond: number;
}

/** Null: not measured, as nothing of the kind was heard or the gateway runs elsewhere. */
export interface LoadFigures extends LoadSummary, Partial<AttackFigures & KillFigures> {
  /** Null: no process of its own. */
  apiLoopDelayP99Ms: number | null;
  /** Of one core. */
  gatewayCpuPercent: number | null;
  gatewayCpuPerCallPercent: number | null;
  gatewayRssKb: number | null;
  gatewayRssPerCallKb: number | null;
  eventLoopDelayP99Ms: number | null;
  clientCpuPercent: number;
  clientCpuPerCallPercent: number;
  /** What neither the gateway nor the client used of the machine, of one core: others disturb. */
  othersCpuPercent: number | null;
}

export async function measureLoad(
  target: LoadTarget,
  options: CallOptions & { seconds: number },
): Promise<LoadFigures> {
  const client = new LoadClient();
  let attacker: AttackClient | undefined;
  const coresBefore = options.cores === undefined ? undefined : ownCores();
  try {
    if (options.cores !== undefined) {
      pin(client.pid, options.cores);
      pin(process.pid, options.cores); // What is asked at the end takes time as well.
    }
    const before = figuresOf(target);
    await client.ask({ order: 'place', options: loadOptionsOf(target, options) });
    const attack = await startAttack(target, options);
    attacker = attack;
    await pause(SETTLE_MS);
    await attack?.measure();
    await gatewayMetrics(target.metricsUrl); // The delay is counted from here on.
    const { cpuMs: clientBefore } = await client.ask({ order: 'measure' });
    const busy = figuresOf(target);
    const machineBefore = machineBusyMs();
    const startMs = performance.now();
    await pause(options.seconds * 1_000);
    const { cpuMs: clientAfter, openCalls } = await client.ask({ order: 'measured' });
    const after = figuresOf(target);
    const machineMs = machineBusyMs() - machineBefore;
    const elapsedMs = performance.now() - startMs;
    const attackFigures = await attack?.report();
    const { eventLoopDelayP99Ms, apiLoopDelayP99Ms } = await gatewayMetrics(target.metricsUrl);
    const killFigures = await attack?.killApi();
    const { summary } = await client.ask({ order: 'finish' });
    if (summary === undefined) throw new Error('the load process gave no summary');
    const perCall = (value: number): number => value / Math.max(1, openCalls);
    const percent = (cpuMs: number): number => (cpuMs / elapsedMs) * 100;
    const clientMs = clientAfter - clientBefore;
    const gatewayMs = busy && after ? after.cpuMs - busy.cpuMs : null;
    const grownKb = before && after ? Math.max(0, after.rssKb - before.rssKb) : null;
    return {
      ...summary,
      ...attackFigures,
      ...killFigures,
      gatewayCpuPercent: gatewayMs === null ? null : percent(gatewayMs),
      gatewayCpuPerCallPercent: gatewayMs === null ? null : perCall(percent(gatewayMs)),
      gatewayRssKb: after?.rssKb ?? null,
      gatewayRssPerCallKb: grownKb === null ? null : perCall(grownKb),
      eventLoopDelayP99Ms,
      apiLoopDelayP99Ms,
      clientCpuPercent: percent(clientMs),
      clientCpuPerCallPercent: perCall(percent(clientMs)),
      othersCpuPercent:
        gatewayMs === null ? null : Math.max(0, percent(machineMs - gatewayMs - clientMs)),
    };
  } finally {
    attacker?.end();
    client.stop();
    if (coresBefore !== undefined) pin(process.pid, coresBefore);
  }
}

/** Leads a fresh gateway through what a call has, for so many seconds: at the first time of each thing its code
 *  is compiled, which with hundreds of calls is a stall that a gateway at work has long had behind it. */
export async function warmUp(
  target: LoadTarget,
  options: CallOptions & { seconds: number },
): Promise<void> {
  const client = new LoadClient();
  const few = { ...options, calls: WARM_UP_CALLS, callsPerSecond: WARM_UP_CALLS };
  try {
    // Calls of their own.
    const series = (target.series + 1) % 2 ** 24;
    await client.ask({ order: 'place', options: { ...loadOptionsOf(target, few), series } });
    await pause(options.seconds * 1_000);
    await client.ask({ order: 'finish' });
  } finally {
    client.stop();
  }
}

/** Undefined: none is wanted. */
async function startAttack(
  target: LoadTarget,
  { hostilePerSecond, cores }: CallOptions,
): Promise<AttackClient | undefined> {
  if (hostilePerSecond === 0) return undefined;
  const attack = await AttackClient.start(target, hostilePerSecond);
  if (cores !== undefined) pin(attack.pid, cores);
  return attack;
}

/** What the load process is told of the calls. */
export function loadOptionsOf(target: LoadTarget, options: CallOptions): LoadOptions {
  const { webhookUrl, to, accountSid, authToken, series } = target;
  const { scenario, calls, callsPerSecond, interruptionsPerSecond, leadMs } = options;
  return {
    ...{ webhookUrl, to, accountSid, authToken, series },
    ...{ scenario, calls, callsPerSecond, interruptionsPerSecond, leadMs },
    // Somebody else's agent carries no watermark of ours.
    clipFrames: target.agent === undefined ? [] : clipFramesOf(scenario),
  };
}

function figuresOf({ pid }: LoadTarget): ProcessFigures | undefined {
  return pid === undefined ? undefined : processFigures(pid);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
