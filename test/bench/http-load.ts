// Requests to a gateway as fast as it answers, over a fixed number of connections.

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

/** Throws at the first answer that is not a 200. */
export async function loadApi(
  { url, apiKey }: { url: string; apiKey: string },
  requests: number,
  requestOf: (index: number) => LoadRequest,
): Promise<LoadFigures> {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const ask = async (index: number): Promise<number> => {
    const { method, path, body } = requestOf(index);
    const startedMs = performance.now();
    const answer = await pool.request({
      method,
      path: `/api/v1${path}`,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${text}`);
    return performance.now() - startedMs;
  };
  const run = async (from: number, count: number): Promise<number[]> => {
    const waiting = Array.from({ length: count }, (_each, index) => from + index).values();
    const times: number[] = [];
    const work = async (): Promise<void> => {
      for (const index of waiting) times.push(await ask(index));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    return times;
  };
  try {
    await run(0, WARM_UP);
    const startedMs = performance.now();
    const times = (await run(WARM_UP, requests)).sort((a, b) => a - b);
    const seconds = (performance.now() - startedMs) / 1_000;
    const at = (share: number): number => times[Math.floor(share * (times.length - 1))] ?? 0;
    return { requestsPerSecond: requests / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
  } finally {
    await pool.close();
  }
}
