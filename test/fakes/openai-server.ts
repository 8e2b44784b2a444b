// A server that speaks the wire of OpenAI-compatible chat completions by a script, good and bad habits alike.
// Each request takes the next reply of the script; without one it is answered with 500.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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

export interface FakeOpenAiServer {
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

export async function startOpenAiServer(): Promise<FakeOpenAiServer> {
  const requests: RecordedRequest[] = [];
  const replies: Reply[] = [];
  let fallback = (_request: RecordedRequest): Reply =>
    failure(500, { message: 'no reply scripted' });
  let connections = 0;
  let prepared = 0;

  const server = createServer((request, response) => {
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
      if (recorded.path.endsWith('/models')) {
        prepared += 1;
        response.end('{"object":"list","data":[]}');
        return;
      }
      requests.push(recorded);
      void send(response, replies.shift() ?? fallback(recorded));
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
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

/** One event of the stream. */
export function data(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

/** A chunk with `delta`, in the shape of the real server. */
export function chunk(delta: Record<string, unknown>, finishReason: string | null = null): string {
  return data({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

export const DONE = data('[DONE]');

export function usage(promptTokens: number, completionTokens: number, cachedTokens = 0): string {
  return data({
    choices: [],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
      prompt_tokens_details: { cached_tokens: cachedTokens },
    },
  });
}

/** A well-behaved answer, one chunk per word. */
export function says(text: string): Reply {
  const words = text.match(/\S+\s*/g) ?? [];
  return {
    steps: [
      chunk({ role: 'assistant', content: '' }),
      ...words.map((word) => chunk({ content: word })),
      chunk({}, 'stop'),
      usage(12, words.length),
      DONE,
    ],
  };
}

/** A tool call with its arguments in fragments, after `text` if there is any. */
export function calls(
  name: string,
  args: Record<string, unknown>,
  options: { id?: string; text?: string } = {},
): Reply {
  const json = JSON.stringify(args);
  const middle = Math.ceil(json.length / 2);
  const part = (call: Record<string, unknown>) => chunk({ tool_calls: [{ index: 0, ...call }] });
  return {
    steps: [
      chunk({ role: 'assistant', content: options.text ?? null }),
      part({ id: options.id ?? 'call_abc', type: 'function', function: { name, arguments: '' } }),
      part({ function: { arguments: json.slice(0, middle) } }),
      part({ function: { arguments: json.slice(middle) } }),
      chunk({}, 'tool_calls'),
      DONE,
    ],
  };
}

export function failure(
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    steps: [JSON.stringify({ error })],
  };
}
