// Connections to a language model's server: kept alive between requests, opened ahead of the first one (DNS, TCP, TLS).
// Knows addresses and headers, not protocols. Deadlines of answers are in response-timeout.

import { Agent, type buildConnector, type Dispatcher } from 'undici';
import type { Log } from '../../../log.ts';
import { serviceSeconds } from '../../../metrics/speech-metrics.ts';
import type { Clock } from '../../../std/clock.ts';
import type { ModelProtocol } from './protocol.ts';

export interface ConnectionOptions {
  /** Base URL including the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  protocol: Pick<ModelProtocol, 'path' | 'headers' | 'warmUp'>;
  /** Service name for metrics and the log. */
  service: string;
  /** Opens the connections; default: to any address. */
  connect?: buildConnector.connector | undefined;
  clock: Clock;
  log: Log;
}

export interface Connection {
  /** Sends a request; `signal` aborts it. Rejects with network errors. */
  post(body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData>;
  /** Opens a connection ahead of the next request, unless one is idle or being opened. */
  prepare(): void;
  /** Aborts every request in progress. */
  close(): Promise<void>;
}

const PREPARE_MS_MAX = 5_000;
/** Milliseconds that idle connections stay open, to last between a call's turns. The name is undici's. */
const keepAliveTimeout = 60_000;
/** Concurrent answers of one process. Further requests wait for a connection within their deadline. */
const CONNECTIONS_MAX = 256;

export function openConnection(options: ConnectionOptions): Connection {
  const { clock, log, service, protocol, connect } = options;
  const base = new URL(`${options.baseUrl.replace(/\/+$/, '')}/`);
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    keepAliveTimeout,
    ...(connect === undefined ? {} : { connect }),
  });
  const headers = {
    'content-type': 'application/json',
    accept: 'text/event-stream, application/json',
    ...protocol.headers,
  };
  let isPreparing = false;

  function target(resource: string): { origin: string; path: string } {
    const root = resource.startsWith('/') ? '' : base.pathname;
    const joined = resource.includes('?') ? base.search.replace('?', '&') : base.search;
    return { origin: base.origin, path: `${root}${resource}${joined}` };
  }

  function hasFree(): boolean {
    const stats = agent.stats[base.origin];
    return stats !== undefined && 'free' in stats && stats.free > 0;
  }

  function warmUp(signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    const { method, path, body } = protocol.warmUp;
    return agent.request({
      ...target(path),
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal,
    });
  }

  return {
    post: (body, signal) =>
      agent.request({ ...target(protocol.path), method: 'POST', headers, body, signal }),
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
      // Any response shows that the connection is open.
      warmUp(controller.signal)
        .then(async (response) => {
          await response.body.dump();
          count('ok');
        })
        // If the server cannot be reached, the call's own request reports it.
        .catch((error: unknown) => {
          count(controller.signal.aborted ? 'timeout' : 'failed');
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
