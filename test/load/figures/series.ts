// Thousands of short calls one after the other on a number of lines: what a gateway keeps of calls that are
// over. Memory, descriptors and timers are looked at as it goes on and when it is at rest again.

import { LoadClient } from '../caller/load-client.ts';
import type { Series } from '../caller/load-process.ts';
import type { LoadTarget } from '../load-target.ts';
import { type OutageOptions, Outages } from '../services/outages.ts';
import { readTranscripts, type TranscriptFigures } from '../services/transcripts.ts';
import { gatewayMetrics, metricsText, readServiceFaults } from './gateway-metrics.ts';
import type { LoadSummary } from './load-summary.ts';
import { type CallOptions, loadOptionsOf, pause } from './measure.ts';
import { pin, processFigures } from './process-figures.ts';

/** Looks at the gateway while the calls go on. */
const LOOKS = 40;
/** Work after the last call, such as storing it, and connections that are kept for the next have this long. */
const REST_MS = 35_000;

/** At one moment. Null: not known. */
export interface Look {
  atSeconds: number;
  rssKb: number | null;
  descriptors: number | null;
  sockets: number | null;
  timers: number | null;
}

export interface SeriesFigures
  extends Omit<LoadSummary, 'answers' | 'said'>,
    Partial<TranscriptFigures> {
  /** Outages of the primary services. */
  outages?: number;
  serviceFaults?: Record<string, number>;
  /** At rest, before the first call and after the last. */
  before: Look;
  after: Look;
  looks: Look[];
  /** Memory by which the second half of the calls was above the first, the first tenth left out. */
  rssGrowthKb: number | null;
  runs: number | null;
  completedRuns: number | null;
}

export async function measureSeries(
  target: LoadTarget,
  options: CallOptions & Series & { outages?: OutageOptions | undefined },
): Promise<SeriesFigures> {
  const client = new LoadClient();
  const { services } = target;
  let outages: Outages | undefined;
  const startMs = performance.now();
  const look = async (): Promise<Look> => {
    const figures = target.pid === undefined ? undefined : processFigures(target.pid);
    return {
      atSeconds: (performance.now() - startMs) / 1_000,
      rssKb: figures?.rssKb ?? null,
      descriptors: figures?.descriptors ?? null,
      sockets: figures?.sockets ?? null,
      timers: (await gatewayMetrics(target.metricsUrl)).timers,
    };
  };
  const looks: Look[] = [];
  let timer: NodeJS.Timeout | undefined;
  try {
    if (options.cores !== undefined) {
      pin(client.pid, options.cores);
      if (services !== undefined) pin(services.pid, options.cores);
    }
    const before = await look();
    const { total, callSeconds, calls } = options;
    const expectedMs = (total / calls) * callSeconds * 1_000;
    timer = setInterval(() => void look().then((each) => looks.push(each)), expectedMs / LOOKS);
    const series = { total, callSeconds };
    if (services !== undefined && options.outages !== undefined) {
      outages = new Outages(services, options.outages);
    }
    await client.ask({ order: 'series', options: loadOptionsOf(target, options), series });
    clearInterval(timer);
    await outages?.stop();
    const { summary } = await client.ask({ order: 'finish' });
    if (summary === undefined) throw new Error('the load process gave no summary');
    client.stop(); // Its connections would be counted as the gateway's.
    await pause(REST_MS);
    const after = await look();
    const { agent } = target;
    const { answers: _answers, said, ...heard } = summary;
    const transcripts =
      agent === undefined || target.services === undefined
        ? undefined
        : await readTranscripts(agent.api, agent.workflowId, new Map(said));
    return {
      ...heard,
      ...transcripts,
      ...(outages && { outages: outages.count }),
      ...(services && {
        serviceFaults: readServiceFaults(await metricsText(target.metricsUrl)),
      }),
      before,
      after,
      looks,
      rssGrowthKb: growthKb(looks),
      runs: agent === undefined ? null : await agent.api.countRuns(agent.workflowId, false),
      completedRuns: agent === undefined ? null : await agent.api.countRuns(agent.workflowId, true),
    };
  } finally {
    clearInterval(timer);
    client.stop();
  }
}

/** Null if there are too few looks to tell. */
export function growthKb(looks: readonly Look[]): number | null {
  const sizes = looks.flatMap(({ rssKb }) => (rssKb === null ? [] : [rssKb]));
  const warm = sizes.slice(Math.ceil(sizes.length / 10));
  const half = Math.floor(warm.length / 2);
  if (half === 0) return null;
  return meanOf(warm.slice(-half)) - meanOf(warm.slice(0, half));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}
