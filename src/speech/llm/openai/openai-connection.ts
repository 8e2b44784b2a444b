// Connections to an OpenAI-compatible server, kept open between requests. It knows the path and the key, not the
// protocol; deadlines of answers are the caller's (speech/llm/response-timeout).

import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';

export interface OpenAiConnectionOptions {
  /** Up to and with the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Undefined for servers without keys. */
  apiKey: string | undefined;
  clock: Clock;
  log: Log;
  /** Resolves the server's name; default: the system. */
  lookup?: LookupFunction;
}

export interface OpenAiConnection {
  /** Sends a request for an answer; `signal` closes it. Rejects with the network's errors. */
  post(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /** Opens a connection ahead of the first request. */
  prepare(): void;
  /** Ends everything under way. */
  close(): Promise<void>;
}

const PREPARE_MS_MAX = 5_000;
/** Idle connections stay open between a call's turns. Milliseconds, by undici's name. */
const keepAliveTimeout = 60_000;
/** Simultaneous answers of one process; more wait for a connection within their deadline. */
const CONNECTIONS_MAX = 256;
/** A prepared connection is not prepared again within this time. */
const PREPARED_MS = 20_000;

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
  let usedAtMs = Number.NEGATIVE_INFINITY;

  function target(resource: string): { origin: string; path: string } {
    return { origin: base.origin, path: `${base.pathname}${resource}${base.search}` };
  }

  return {
    post(body, signal) {
      usedAtMs = clock.monotonicMs();
      return agent.request({
        ...target('chat/completions'),
        method: 'POST',
        headers,
        body,
        signal,
      });
    },
    prepare() {
      if (clock.monotonicMs() - usedAtMs < PREPARED_MS) return;
      usedAtMs = clock.monotonicMs();
      const controller = new AbortController();
      const deadline = clock.after(PREPARE_MS_MAX, () => controller.abort());
      const { signal } = controller;
      agent
        .request({ ...target('models'), method: 'GET', headers, signal })
        .then((response) => response.body.dump())
        .catch((error: unknown) =>
          log.debug({ service, err: error }, 'language model not prepared'),
        )
        .finally(() => deadline.cancel());
    },
    close: () => agent.destroy(),
  };
}
