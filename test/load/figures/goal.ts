// What a gateway must hold under load, and whether a measurement can show it.

import type { LoadFigures } from './measure.ts';

const EVENT_LOOP_MS_MAX = 10;
const RSS_PER_CALL_KB_MAX = 1_024;
/** What may not happen, with open consoles or without; the figures' own names. */
const NONE = {
  underruns: 0,
  lostFrames: 0,
  reorderedFrames: 0,
  refused: 0,
  dropped: 0,
  consoleFailed: 0,
  consoleBroken: 0,
} as const;
/** Beside an attack on the API; the figures' own names. */
const ATTACK_LIMITS = {
  apiLoopDelayP99Ms: 50,
  hostileFailed: 0,
  honestFailed: 0,
  honestP99Ms: 500,
  newCallsFailed: 0,
  webhookP99Ms: 500,
  upgradeP99Ms: 100,
  refusedConnections: 0,
  callsFailedAtKill: 0,
} as const;
/** Beside calls that are placed; the figures' own names. */
const OUTBOUND_LIMITS = { startsFailed: 0, startP99Ms: 150, dialLateP99Ms: 150 } as const;
/** Share of the calls that were to be placed: the last second's may come after it. */
const OUTBOUND_SHARE_MIN = 0.98;
/** Limits for conversations by streaming services, under the figures' own names. */
const SERVICE_LIMITS = { innerP50Ms: 5, innerP95Ms: 20, frameP95Ms: 180, unanswered: 0 } as const;
/** With a recogniser and a voice of each call. */
const RSS_PER_CALL_KB_MAX_WITH_SERVICES = 1_536;
/** A load process that is later than this itself, or that has no CPU time left, measures itself. */
const CLIENT_DELAY_MS_MAX = 5;
const CLIENT_CPU_PERCENT_MAX = 85;
/** Processor time of other programs in percent of one core. */
const OTHERS_CPU_PERCENT_MAX = 25;

type Limits = Readonly<Partial<Record<NumberNames, number>>>;
type NumberNames = {
  [Name in keyof LoadFigures]-?: NonNullable<LoadFigures[Name]> extends number ? Name : never;
}[keyof LoadFigures];

/** What is not as it must be, one line for each; empty if the goal is held. What was not measured does not
 *  count. */
export function missesOf(figures: LoadFigures, latenessMsMax: number): string[] {
  const { latenessP99Ms, eventLoopDelayP99Ms, gatewayRssPerCallKb } = figures;
  const misses: string[] = [];
  const limit = (name: string, value: number | null, max: number): void => {
    if (value !== null && value > max) misses.push(`${name} is ${rounded(value)}, at most ${max}`);
  };
  const within = (limits: Limits): void => {
    for (const [name, max] of Object.entries(limits)) {
      limit(name, figures[name as keyof Limits] ?? null, max);
    }
  };
  limit('lateness p99 (ms)', latenessP99Ms, latenessMsMax);
  limit('event loop delay p99 (ms)', eventLoopDelayP99Ms, EVENT_LOOP_MS_MAX);
  const hasServices = figures.answersMeasured !== undefined;
  const rssMax = hasServices ? RSS_PER_CALL_KB_MAX_WITH_SERVICES : RSS_PER_CALL_KB_MAX;
  limit('memory per call (kB)', gatewayRssPerCallKb, rssMax);
  within(NONE);
  limit('faults of the protocol', figures.faults, 0);
  if (hasServices) within(SERVICE_LIMITS);
  const { outboundPerSecond, dialsPerSecond = 0 } = figures;
  if (outboundPerSecond !== undefined) {
    within(OUTBOUND_LIMITS);
    const wanted = OUTBOUND_SHARE_MIN * outboundPerSecond;
    if (dialsPerSecond < wanted) {
      misses.push(`dials a second are ${rounded(dialsPerSecond)}, at least ${rounded(wanted)}`);
    }
  }
  if (figures.hostileRequests === undefined) return misses;
  within(ATTACK_LIMITS);
  return misses;
}

/** Why the figures may be worse than the gateway is. */
export function doubtsOf(figures: LoadFigures): string[] {
  const { clientDelayP99Ms, clientCpuPercent, othersCpuPercent } = figures;
  const { serviceCpuPercent, serviceDelayP99Ms } = figures;
  const doubts: string[] = [];
  if ((clientDelayP99Ms ?? 0) > CLIENT_DELAY_MS_MAX) {
    doubts.push(`the load process was late itself (p99 ${rounded(clientDelayP99Ms ?? 0)} ms)`);
  }
  if (clientCpuPercent > CLIENT_CPU_PERCENT_MAX) {
    doubts.push(`the load process had no CPU time left (${rounded(clientCpuPercent)} %)`);
  }
  if ((serviceCpuPercent ?? 0) > CLIENT_CPU_PERCENT_MAX) {
    doubts.push(`the services had no CPU time left (${rounded(serviceCpuPercent ?? 0)} %)`);
  }
  if ((serviceDelayP99Ms ?? 0) > CLIENT_DELAY_MS_MAX) {
    doubts.push(`the services were late themselves (p99 ${rounded(serviceDelayP99Ms ?? 0)} ms)`);
  }
  if ((othersCpuPercent ?? 0) > OTHERS_CPU_PERCENT_MAX) {
    doubts.push(`others used the machine (${rounded(othersCpuPercent ?? 0)} % of a core)`);
  }
  return doubts;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
