// Sixteen clients of the organization whose calls are measured, as a dashboard and an integration ask: one request
// after the other, with a moment between.

import { Pool } from 'undici';
import { ATTACKED_MS_MAX, Histogram } from '../figures/histogram.ts';

const CLIENTS = 16;
/** Between a reply and the next request, the mean of an even distribution from 0. */
const PAUSE_MS = 150;
const REPLY_MS_MAX = 15_000;

export interface HonestFigures {
  requests: number;
  failed: number;
  durations: Histogram;
  /** The same by what was asked for. */
  byPath: Map<string, Histogram>;
}

export interface HonestOptions {
  url: string;
  apiKey: string;
  workflowId: string;
  /** Whether this counts at the moment. */
  isMeasuring: () => boolean;
  figures: HonestFigures;
}

export function newHonestFigures(): HonestFigures {
  return {
    requests: 0,
    failed: 0,

    durations: new Histogram(ATTACKED_MS_MAX),
    byPath: new Map(),
  };
}

/** One line for each path: requests, p50, p99 and the longest, in milliseconds. */
export function pathLines({ byPath }: HonestFigures): string[] {
  return [...byPath].map(([path, durations]) => {
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => Math.round(durations.at(share) ?? 0));
    return `${path} ${durations.count} requests, ${p50}, ${p99}, ${max} ms`;
  });
}

/** Ends when `signal` is aborted. */
export async function runHonestClients(options: HonestOptions, signal: AbortSignal): Promise<void> {
  const pool = new Pool(options.url, { connections: CLIENTS, pipelining: 1 });
  try {
    await Promise.all(
      Array.from({ length: CLIENTS }, (_each, client) => runClient(pool, client, options, signal)),
    );
  } finally {
    await pool.destroy();
  }
}

async function runClient(
  pool: Pool,
  client: number,
  { apiKey, workflowId, isMeasuring, figures }: HonestOptions,
  signal: AbortSignal,
): Promise<void> {
  const paths = [
    `/workflow/${workflowId}/runs`,
    `/workflow/fetch/${workflowId}`,
    '/calls/active',
    '/organizations/telephony-configs',
    '/workflow/summary',
  ];
  for (let turn = client; !signal.aborted; turn++) {
    const startMs = performance.now();
    const path = paths[turn % paths.length] as string;
    const isOk = await replyOf(pool, path, apiKey);
    if (isMeasuring()) noteReply(figures, { path, ms: performance.now() - startMs, isOk });
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 * PAUSE_MS));
  }
}

export function noteReply(
  figures: HonestFigures,
  { path, ms, isOk }: { path: string; ms: number; isOk: boolean },
): void {
  figures.requests += 1;
  if (!isOk) figures.failed += 1;
  figures.durations.add(ms);
  let durations = figures.byPath.get(path);
  if (durations === undefined) {
    durations = new Histogram(ATTACKED_MS_MAX);
    figures.byPath.set(path, durations);
  }
  durations.add(ms);
}

async function replyOf(pool: Pool, path: string, apiKey: string): Promise<boolean> {
  try {
    const reply = await pool.request({
      method: 'GET',
      path: `/api/v1${path}`,
      headers: { 'x-api-key': apiKey },
      signal: AbortSignal.timeout(REPLY_MS_MAX),
    });
    await reply.body.dump();
    return reply.statusCode === 200;
  } catch {
    return false;
  }
}
