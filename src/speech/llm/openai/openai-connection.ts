// Connections to an OpenAI-compatible server: kept alive between requests, and opened ahead of the first one (DNS,
// TCP, TLS). Path and key only; the protocol is elsewhere, and so are the deadlines of answers
// (speech/llm/response-timeout).

import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Log } from '../../../log.ts';
import { serviceSeconds } from '../../../metrics/metrics.ts';
import type { Clock } from '../../../std/clock.ts';

export interface OpenAiConnectionOptions {
  /** Base URL up to and including the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Undefined for servers without keys. */
  apiKey: string | undefined;
  clock: Clock;
  log: Log;
  /** Resolves the server's name; default: the system. */
  lookup?: LookupFunction;
}

export interface OpenAiConnection {
  /** Sends a request; `signal` aborts it. Rejects with the network's errors. */
  post(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /** Opens a connection ahead of the next request, unless one is idle or being opened. */
  prepare(): void;
  /** Aborts every request in progress. */
  close(): Promise<void>;
}

const PREPARE_MS_MAX = 5_000;
/** Idle connections stay open between a call's turns. Milliseconds; undici's name. */
const keepAliveTimeout = 60_000;
/** Concurrent answers of one process; others wait for a connection within their deadline. */
const CONNECTIONS_MAX = 256;

export function openConnection(
  options: OpenAiConnectionOptions,
  service: string,
): OpenAiConnection {
  const { clock, log } = options;
  const base = new URL(`${options.baseUrl.replace(/\/+$/, '')}/`);
  const { lookup } = options;
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    keepAliveTimeout,
    ...(lookup === undefined ? {} : { connect: { lookup } }),
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
  };
  let isPreparing = false;

  function target(resource: string): { origin: string; path: string } {
    return { origin: base.origin, path: `${base.pathname}${resource}${base.search}` };
  }

  function hasFree(): boolean {
    const stats = agent.stats[base.origin];
    return stats !== undefined && 'free' in stats && stats.free > 0;
  }

  return {
    post(body, signal) {
      return agent.request({
        ...target('chat/completions'),
        method: 'POST',
        headers,
        body,
        signal,
      });
    },
    prepare() {
      if (isPreparing || hasFree()) return;
      isPreparing = true;
      const startedAt = clock.monotonicMs();
      const count = (result: string) => {
        const seconds = (clock.monotonicMs() - startedAt) / 1_000;
        serviceSeconds.observe({ kind: 'llm-prepare', service, result }, seconds);
      };
      const controller = new AbortController();
      const deadline = clock.after(PREPARE_MS_MAX, () => controller.abort());
      const { signal } = controller;
      // Any answer will do: the connection is open then.
      agent
        .request({ ...target('models'), method: 'GET', headers, signal })
        .then(async (response) => {
          await response.body.dump();
          count('ok');
        })
        // If the server cannot be reached, the call's own request reports it.
        .catch((error: unknown) => {
          count(signal.aborted ? 'timeout' : 'failed');
          log.debug({ service, err: error }, 'connection to language model not opened ahead');
        })
        .finally(() => {
          deadline.cancel();
          isPreparing = false;
        });
    },
    close: () => agent.destroy(),
  };
}
