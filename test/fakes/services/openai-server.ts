// A server that speaks the wire of OpenAI-compatible chat completions by a script, good and bad habits alike. With
// `strict` it refuses what its service would: another key, another path, fields that the service does not have.

import {
  type RecordedRequest,
  type Reply,
  type ScriptedServer,
  startScriptedServer,
} from '../scripted-server.ts';
import { promptTokens } from './prompt-tokens.ts';

export type FakeOpenAiServer = ScriptedServer;

export interface StrictService {
  /** Name and value of the header with the key; undefined: no key. */
  key?: readonly [header: string, value: string];
  /** Default: /v1/chat/completions. */
  path?: string;
  /** Fields of the body that the service has. */
  fields: readonly string[];
  /** What else the service refuses; the text is its reason. */
  refuses?: (body: Record<string, unknown>) => string | undefined;
}

/** `contextTokensMax`: of its model; a longer conversation is refused. */
export function startOpenAiServer(
  strict?: StrictService,
  contextTokensMax?: number,
): Promise<FakeOpenAiServer> {
  const unscripted = failure(500, { message: 'no reply scripted' });
  return startScriptedServer({
    unscripted,
    isWarmUp: (path) => path.endsWith('/models') || path === '/api/generate',
    check: (request) =>
      (strict && refusal(strict, request)) ??
      nameRefusal(request.body) ??
      contextRefusal(request.body, contextTokensMax),
  });
}

/** Refusal of a function name that the service does not accept, whether offered or called. */
function nameRefusal(body: Record<string, unknown>): Reply | undefined {
  const names = JSON.stringify([body['tools'], body['messages']]).matchAll(
    /"function":\{"name":"([^"]*)"/g,
  );
  const wrong = [...names].find(([, name = '']) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name));
  if (wrong === undefined) return undefined;
  const message = "Invalid 'tools[0].function.name': string does not match pattern.";
  return failure(400, { message, type: 'invalid_request_error', code: 'invalid_value' });
}

function contextRefusal(body: Record<string, unknown>, tokensMax?: number): Reply | undefined {
  const tokens = promptTokens(body);
  if (tokensMax === undefined || tokens <= tokensMax) return undefined;
  return failure(400, {
    message: `This model's maximum context length is ${tokensMax} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
    type: 'invalid_request_error',
    param: 'messages',
    code: 'context_length_exceeded',
  });
}

function refusal(strict: StrictService, request: RecordedRequest): Reply | undefined {
  const { headers, path, body } = request;
  const { key, fields } = strict;
  const invalid = (message: string, param: string | null = null): Reply =>
    failure(400, { message, type: 'invalid_request_error', param, code: null });
  if (key !== undefined && headers[key[0]] !== key[1]) {
    return failure(401, { message: 'Incorrect API key provided', code: 'invalid_api_key' });
  }
  if (path !== (strict.path ?? '/v1/chat/completions')) return failure(404, { message: path });
  const unknown = Object.keys(body).find((field) => !fields.includes(field));
  if (unknown !== undefined) {
    return invalid(`Unrecognized request argument supplied: ${unknown}`, unknown);
  }
  const reason = strict.refuses?.(body);
  return reason === undefined ? undefined : invalid(reason);
}

/** One event of the stream. */
export function data(value: unknown): string {
  return `data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`;
}

const HEAD = {
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: 'test-model',
};

/** A chunk with `delta`, in the shape of the real server. */
export function chunk(delta: Record<string, unknown>, finishReason: string | null = null): string {
  return data({
    ...HEAD,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
}

export const DONE = data('[DONE]');

export function usage(promptTokens: number, completionTokens: number, cachedTokens = 0): string {
  return data({
    ...HEAD,
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
