// An HTTP server that answers by a script: the engine of the fakes of language models. Each request takes the next
// reply; without one it is answered with 500. A fake adds its checks: they come before the script.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Certificate } from './certificates.ts';
import { createHttpServer } from './http-server.ts';

export interface RecordedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed JSON body. */
  body: Record<string, unknown>;
  /** Resolves when the client has closed the request before the reply was complete. */
  aborted: Promise<void>;
}

/** A piece of a reply: bytes, a wait (for a promise, or in real time for demonstrations), or an end. */
export type Step =
  | string
  | Uint8Array
  | { until: () => Promise<unknown> }
  | { waitMs: number }
  /** Nothing more comes and the response stays open. */
  | 'stall'
  /** The connection breaks. */
  | 'reset';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  steps: Step[];
}

export interface ScriptedServer {
  readonly origin: string;
  /** With the version `v1`. */
  readonly baseUrl: string;
  readonly requests: RecordedRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Requests for the list of models, which are not recorded. */
  readonly prepared: number;
  /** Adds replies to the end of the script. */
  script(...replies: Reply[]): void;
  /** Answers what the script does not: the last resort of long-running demonstrations. */
  otherwise(answer: (request: RecordedRequest) => Reply): void;
  close(): Promise<void>;
}

export interface ScriptedServerOptions {
  /** The refusal of a request that breaks the protocol; undefined: the script answers. */
  check?: (request: RecordedRequest) => Reply | undefined;
  /** The answer to a request that the fake was not told about. */
  unscripted: Reply;
  /** Requests that open a connection and are not recorded. */
  isWarmUp?: (path: string) => boolean;
  /** Undefined: not encrypted. */
  tls?: Certificate | undefined;
  /** False: requests are not kept. Default: true. */
  isRecording?: boolean | undefined;
}

export async function startScriptedServer(options: ScriptedServerOptions): Promise<ScriptedServer> {
  const { check, isWarmUp = (path) => /\/models(\?|$)/.test(path) } = options;
  const requests: RecordedRequest[] = [];
  const replies: Reply[] = [];
  let fallback = (_request: RecordedRequest): Reply => options.unscripted;
  let connections = 0;
  let prepared = 0;

  const server = createHttpServer(options.tls, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const text = Buffer.concat(parts).toString('utf8');
      const recorded: RecordedRequest = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? {} : JSON.parse(text),
        aborted: new Promise((resolve) => {
          response.once('close', () => {
            if (!response.writableFinished) resolve();
          });
        }),
      };
      if (isWarmUp(recorded.path)) {
        prepared += 1;
        response.end('{"object":"list","data":[]}');
        return;
      }
      if (options.isRecording ?? true) requests.push(recorded);
      void send(response, check?.(recorded) ?? replies.shift() ?? fallback(recorded));
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`;

  return {
    origin,
    baseUrl: `${origin}/v1`,
    requests,
    get connections() {
      return connections;
    },
    get prepared() {
      return prepared;
    },
    script: (...more) => void replies.push(...more),
    otherwise(answer) {
      fallback = answer;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status ?? 200, {
    'content-type': 'text/event-stream',
    ...reply.headers,
  });
  response.flushHeaders();
  for (const step of reply.steps) {
    if (step === 'stall') return;
    if (step === 'reset') {
      response.destroy();
      return;
    }
    if (typeof step === 'string' || step instanceof Uint8Array) response.write(step);
    else if ('until' in step) await step.until();
    else await new Promise((resolve) => setTimeout(resolve, step.waitMs));
  }
  response.end();
}
