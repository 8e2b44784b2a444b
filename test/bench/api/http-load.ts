// Requests to a gateway: as fast as it answers, over a fixed number of connections (closed loop), or so many a second
// whether or not it answers (open loop), as clients send them who do not know of one another.

import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

export interface LoadFigures {
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export interface LoadRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
}

const CONNECTIONS = 16;
/** Requests before the measured ones. */
const WARM_UP = 50;

/** In the open loop: more than ever wait unless the gateway is overloaded. */
const CONNECTIONS_OPEN = 100;

/** Throws at the first answer that is not a 200. */
export async function loadApi(
  server: { url: string; apiKey: string },
  requests: number,
  requestOf: (index: number) => LoadRequest,
): Promise<LoadFigures> {
  const client = clientOf(server, CONNECTIONS, requestOf);
  const run = async (from: number, count: number): Promise<number[]> => {
    const waiting = Array.from({ length: count }, (_each, index) => from + index).values();
    const times: number[] = [];
    const work = async (): Promise<void> => {
      for (const index of waiting) times.push(await client.ask(index, performance.now()));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    return times;
  };
  try {
    await run(0, WARM_UP);
    const startedMs = performance.now();
    return figuresOf(await run(WARM_UP, requests), startedMs);
  } finally {
    await client.close();
  }
}

/** `perSecond` requests a second for `seconds`: each counts from when it was due, so that a stall is felt by all that
 *  came in it. Throws at the first answer that is not a 200. */
export async function loadApiOpenLoop(
  server: { url: string; apiKey: string },
  { perSecond, seconds }: { perSecond: number; seconds: number },
  requestOf: (index: number) => LoadRequest,
): Promise<LoadFigures> {
  const client = clientOf(server, CONNECTIONS_OPEN, requestOf);
  try {
    for (let index = 0; index < WARM_UP; index++) await client.ask(index, performance.now());
    const startedMs = performance.now();
    const asked: Promise<number>[] = [];
    for (let index = 0; index < perSecond * seconds; index++) {
      const dueMs = startedMs + (index * 1_000) / perSecond;
      const waitMs = dueMs - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      asked.push(client.ask(WARM_UP + index, dueMs));
    }
    return figuresOf(await Promise.all(asked), startedMs);
  } finally {
    await client.close();
  }
}

function clientOf(
  { url, apiKey }: { url: string; apiKey: string },
  connections: number,
  requestOf: (index: number) => LoadRequest,
) {
  const pool = new Pool(url, { connections, pipelining: 1 });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  return {
    /** Milliseconds since `sinceMs`. */
    ask: async (index: number, sinceMs: number): Promise<number> => {
      const { method, path, body } = requestOf(index);
      const answer = await pool.request({
        method,
        path: `/api/v1${path}`,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
      return performance.now() - sinceMs;
    },
    close: () => pool.close(),
  };
}

function figuresOf(unsorted: readonly number[], startedMs: number): LoadFigures {
  const seconds = (performance.now() - startedMs) / 1_000;
  const times = unsorted.toSorted((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
  return { requestsPerSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
