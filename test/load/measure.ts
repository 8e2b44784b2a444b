// One load measurement: all calls up, a moment to settle, then so many seconds of which everything is
// taken: what the far ends heard, and what the gateway's processes used meanwhile.

import { eventLoopDelayP99Ms } from './gateway-metrics.ts';
import { clipFramesOf } from './load-agent.ts';
import { LoadClient } from './load-client.ts';
import type { LoadSummary, Scenario } from './load-run.ts';
import type { LoadTarget } from './load-target.ts';
import { type ProcessFigures, pin, processFigures } from './process-figures.ts';

/** From the last call's begin to the measurement: first uses are over, buffers are full. */
const SETTLE_MS = 3_000;

export interface MeasureOptions {
  scenario: Scenario;
  calls: number;
  seconds: number;
  callsPerSecond: number;
  leadMs: number;
  /** Cores of the load process in the notation of taskset; undefined: all. */
  cores: string | undefined;
}

/** Null: not measured, as nothing of the kind was heard or the gateway runs elsewhere. */
export interface LoadFigures extends LoadSummary {
  gatewayCpuPercent: number | null;
  gatewayCpuPerCallPercent: number | null;
  gatewayRssKb: number | null;
  gatewayRssPerCallKb: number | null;
  gatewayDescriptors: number | null;
  eventLoopDelayP99Ms: number | null;
  clientCpuPercent: number;
  clientCpuPerCallPercent: number;
}

export async function measureLoad(
  target: LoadTarget,
  options: MeasureOptions,
): Promise<LoadFigures> {
  const { scenario, calls, seconds, callsPerSecond, leadMs, cores } = options;
  const client = new LoadClient();
  try {
    const before = figuresOf(target);
    const { webhookUrl, to, accountSid, authToken, series } = target;
    const account = { webhookUrl, to, accountSid, authToken, series };
    const clipFrames = clipFramesOf(scenario);
    if (cores !== undefined) pin(client.pid, cores);
    await client.ask({
      order: 'place',
      options: { ...account, scenario, calls, callsPerSecond, leadMs, clipFrames },
    });
    await pause(SETTLE_MS);
    await eventLoopDelayP99Ms(target.metricsUrl);
    const { cpuMs: clientBefore } = await client.ask({ order: 'measure' });
    const busy = figuresOf(target);
    const startMs = performance.now();
    await pause(seconds * 1_000);
    const after = figuresOf(target);
    const elapsedMs = performance.now() - startMs;
    const { cpuMs: clientAfter, openCalls } = await client.ask({ order: 'measured' });
    const delayMs = await eventLoopDelayP99Ms(target.metricsUrl);
    const { summary } = await client.ask({ order: 'finish' });
    if (summary === undefined) throw new Error('the load process gave no summary');
    const perCall = (value: number): number => value / Math.max(1, openCalls);
    const clientCpu = ((clientAfter - clientBefore) / elapsedMs) * 100;
    const cpu = busy && after ? ((after.cpuMs - busy.cpuMs) / elapsedMs) * 100 : null;
    const grownKb = before && after ? Math.max(0, after.rssKb - before.rssKb) : null;
    return {
      ...summary,
      gatewayCpuPercent: cpu,
      gatewayCpuPerCallPercent: cpu === null ? null : perCall(cpu),
      gatewayRssKb: after?.rssKb ?? null,
      gatewayRssPerCallKb: grownKb === null ? null : perCall(grownKb),
      gatewayDescriptors: after?.descriptors ?? null,
      eventLoopDelayP99Ms: delayMs,
      clientCpuPercent: clientCpu,
      clientCpuPerCallPercent: perCall(clientCpu),
    };
  } finally {
    client.stop();
  }
}

function figuresOf({ pid }: LoadTarget): ProcessFigures | undefined {
  return pid === undefined ? undefined : processFigures(pid);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
