// One load measurement: all calls up, a moment to settle, then so many seconds of which everything is
// taken: what the far ends heard, and what the gateway's processes used meanwhile.

import { AttackClient, type KillFigures } from '../attack/attack-client.ts';
import type { AttackFigures } from '../attack/attack-process.ts';
import { LoadClient } from '../caller/load-client.ts';
import { ConsoleClient } from '../consoles/console-client.ts';
import type { ConsoleFigures } from '../consoles/console-process.ts';
import { clipFramesOf } from '../load-agent.ts';
import type { Scenario } from '../load-options.ts';
import type { LoadOptions } from '../load-run.ts';
import type { LoadTarget } from '../load-target.ts';
import {
  OutboundClient,
  type OutboundFigures,
  type OutboundOptions,
} from '../outbound/outbound-client.ts';
import { metricsText, readMetrics } from './gateway-metrics.ts';
import type { LoadSummary } from './load-summary.ts';
import {
  machineBusyMs,
  ownCores,
  type ProcessFigures,
  pin,
  processFigures,
} from './process-figures.ts';
import { type ServiceFigures, serviceFigures } from './service-figures.ts';

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
  /** Calls that are placed beside; undefined: none. */
  outbound?: OutboundOptions | undefined;
  /** Consoles that are open beside. Default: 0. */
  consoles?: number | undefined;
}

/** Null: not measured, as nothing of the kind was heard or the gateway runs elsewhere. */
export interface LoadFigures
  extends Omit<LoadSummary, 'answers' | 'said'>,
    Usage,
    Partial<AttackFigures & KillFigures & ServiceFigures & OutboundFigures & ConsoleFigures> {
  /** Null: no process of its own. */
  apiLoopDelayP99Ms: number | null;
  eventLoopDelayP99Ms: number | null;
}

interface Usage {
  /** Processor time of the gateway in percent of one core. */
  gatewayCpuPercent: number | null;
  gatewayCpuPerCallPercent: number | null;
  gatewayRssKb: number | null;
  gatewayRssPerCallKb: number | null;
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
  const beside = besideCalls(options);
  const coresBefore = options.cores === undefined ? undefined : ownCores();
  try {
    if (options.cores !== undefined) {
      const others = [target.services, ...beside].flatMap((each) => each?.pid ?? []);
      // What is asked at the end takes time as well.
      for (const pid of [client.pid, ...others, process.pid]) pin(pid, options.cores);
    }
    const before = figuresOf(target);
    await client.ask({ order: 'place', options: loadOptionsOf(target, options) });
    const attack = await startAttack(target, options);
    attacker = attack;
    for (const each of beside) await each.start(target);
    await pause(SETTLE_MS);
    await attack?.measure();
    for (const each of beside) await each.measure();
    const metricsBefore = await metricsText(target.metricsUrl); // The delay is counted from here on.
    const servicesBefore = await target.services?.ask({ order: 'measure' });
    const { cpuMs: clientBefore } = await client.ask({ order: 'measure' });
    const busy = figuresOf(target);
    const machineBefore = machineBusyMs();
    const startMs = performance.now();
    await pause(options.seconds * 1_000);
    const { cpuMs: clientAfter, openCalls } = await client.ask({ order: 'measured' });
    const servicesAfter = await target.services?.ask({ order: 'report' });
    const after = figuresOf(target);
    const machineMs = machineBusyMs() - machineBefore;
    const elapsedMs = performance.now() - startMs;
    const attackFigures = await attack?.report();
    const besideFigures = await Promise.all(beside.map((each) => each.report()));
    const metricsAfter = await metricsText(target.metricsUrl);
    const { eventLoopDelayP99Ms, apiLoopDelayP99Ms } = readMetrics(metricsAfter);
    const killFigures = await attack?.killApi();
    const { summary } = await client.ask({ order: 'finish' });
    if (summary === undefined) throw new Error('the load process gave no summary');
    const serviceMs = (servicesAfter?.cpuMs ?? 0) - (servicesBefore?.cpuMs ?? 0);
    const { answers, said: _said, ...heard } = summary;
    return {
      ...heard,
      ...attackFigures,
      ...killFigures,
      ...Object.assign({}, ...besideFigures),
      ...(servicesAfter?.times && {
        ...serviceFigures({
          times: servicesAfter.times,
          heard: answers,
          metrics: [metricsBefore, metricsAfter],
          cpuPercent: (serviceMs / elapsedMs) * 100,
          delayP99Ms: servicesAfter.delayP99Ms ?? 0,
        }),
      }),
      eventLoopDelayP99Ms,
      apiLoopDelayP99Ms,
      ...usageOf({
        before,
        busy,
        after,
        elapsedMs,
        machineMs,
        serviceMs,
        openCalls,
        clientMs: clientAfter - clientBefore,
      }),
    };
  } finally {
    attacker?.end();
    for (const each of beside) each.end();
    client.stop();
    if (coresBefore !== undefined) pin(process.pid, coresBefore);
  }
}

/** What the processes used; the gateway's figures from before the calls, with all of them, and at the end. */
function usageOf(of: {
  before: ProcessFigures | undefined;
  busy: ProcessFigures | undefined;
  after: ProcessFigures | undefined;
  elapsedMs: number;
  machineMs: number;
  clientMs: number;
  serviceMs: number;
  openCalls: number;
}): Usage {
  const { before, busy, after, elapsedMs, machineMs, clientMs, serviceMs, openCalls } = of;
  const perCall = (value: number): number => value / Math.max(1, openCalls);
  const percent = (cpuMs: number): number => (cpuMs / elapsedMs) * 100;
  const client = {
    clientCpuPercent: percent(clientMs),
    clientCpuPerCallPercent: perCall(percent(clientMs)),
  };
  if (before === undefined || busy === undefined || after === undefined) {
    return { ...NO_USAGE, ...client };
  }
  const gatewayMs = after.cpuMs - busy.cpuMs;
  return {
    gatewayCpuPercent: percent(gatewayMs),
    gatewayCpuPerCallPercent: perCall(percent(gatewayMs)),
    gatewayRssKb: after.rssKb,
    gatewayRssPerCallKb: perCall(Math.max(0, after.rssKb - before.rssKb)),
    ...client,
    othersCpuPercent: Math.max(0, percent(machineMs - gatewayMs - clientMs - serviceMs)),
  };
}

const NO_USAGE = {
  gatewayCpuPercent: null,
  gatewayCpuPerCallPercent: null,
  gatewayRssKb: null,
  gatewayRssPerCallKb: null,
  othersCpuPercent: null,
};

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

/** What goes on beside the calls, in a process of its own. */
interface BesideCalls {
  readonly pid: number;
  start(target: LoadTarget): Promise<void>;
  measure(): Promise<void>;
  report(): Promise<Partial<OutboundFigures & ConsoleFigures>>;
  end(): void;
}

function besideCalls({ outbound, consoles = 0 }: CallOptions): BesideCalls[] {
  const beside: BesideCalls[] = [];
  if (outbound !== undefined) beside.push(new OutboundClient(outbound));
  if (consoles > 0) beside.push(new ConsoleClient(consoles));
  return beside;
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
  const { webhookUrl, to, provider, credentials, series } = target;
  const { scenario, calls, callsPerSecond, interruptionsPerSecond, leadMs } = options;
  const isConversing = target.services !== undefined;
  // A failing voice pauses within an answer.
  const pauseMs = target.isBreakable === true ? 4_000 : 400;
  return {
    webhookUrl,
    to,
    provider,
    credentials,
    series,

    scenario,
    calls,
    callsPerSecond,
    interruptionsPerSecond,
    leadMs,
    isConversing,
    pauseMs,
    // Somebody else's agent carries no watermark of ours; that of a service is no clip.
    clipFrames: target.agent === undefined || isConversing ? [] : clipFramesOf(scenario),
  };
}

/** With the database, wherever it runs. */
function figuresOf({ pid, databasePid }: LoadTarget): ProcessFigures | undefined {
  if (pid === undefined) return undefined;
  const gateway = processFigures(pid);
  if (databasePid === undefined) return gateway;
  const database = processFigures(databasePid);
  const cpuMs = gateway.cpuMs + database.cpuMs;
  return { ...gateway, cpuMs, rssKb: gateway.rssKb + database.rssKb };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
