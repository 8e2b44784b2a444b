// A server that speaks Anthropic's Messages by a script, as strictly as the service: unknown fields, roles, empty texts,
// results of tools, and thinking blocks that were changed are refused in its error shape.
// Source: Anthropic API reference, "Create a Message", "Streaming Messages", "Errors".

import { z } from 'zod';
import {
  type RecordedRequest,
  type Reply,
  type ScriptedServer,
  type Step,
  startScriptedServer,
} from '../scripted-server.ts';
import { promptTokens } from './prompt-tokens.ts';

const cacheControl = z.strictObject({
  type: z.literal('ephemeral'),
  ttl: z.enum(['5m', '1h']).optional(),
});
const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string().regex(/\S/, 'text content blocks must be non-empty'),
  cache_control: cacheControl.optional(),
});
const inputBlock = z.discriminatedUnion('type', [
  textBlock,
  z.strictObject({
    type: z.literal('tool_use'),
    id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
    input: z.record(z.string(), z.unknown()),
    cache_control: cacheControl.optional(),
  }),
  z.strictObject({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.string(),
    is_error: z.boolean().optional(),
    cache_control: cacheControl.optional(),
  }),
  z.strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() }),
]);

const requestSchema = z.strictObject({
  model: z.string(),
  max_tokens: z.int().min(1),
  stream: z.literal(true),
  system: z.array(textBlock).optional(),
  messages: z
    .array(
      z.strictObject({ role: z.enum(['user', 'assistant']), content: z.array(inputBlock).min(1) }),
    )
    .min(1),
  tools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
        description: z.string().optional(),
        input_schema: z.looseObject({
          type: z.literal('object'),
          properties: z.record(z.string().regex(/^[a-zA-Z0-9_.-]{1,64}$/), z.unknown()).optional(),
        }),
        cache_control: cacheControl.optional(),
      }),
    )
    .min(1)
    .optional(),
  tool_choice: z.strictObject({ type: z.enum(['auto', 'any', 'none']) }).optional(),
  temperature: z.number().min(0).max(1).optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('disabled') }),
      z.strictObject({ type: z.literal('adaptive') }),
    ])
    .optional(),
  output_config: z
    .strictObject({ effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']) })
    .optional(),
});
type Body = z.infer<typeof requestSchema>;
type InputBlock = z.infer<typeof inputBlock>;

/** Breakpoints of the cache in one request. */
const BREAKPOINTS_MAX = 4;

/** `contextTokensMax`: of its model; a longer conversation is refused. */
export function startAnthropicServer(
  key: string,
  contextTokensMax = Number.POSITIVE_INFINITY,
): Promise<ScriptedServer> {
  return startScriptedServer({
    unscripted: refused(500, 'api_error', 'no reply scripted'),
    check: (request) => refusal(key, request) ?? contextRefusal(request.body, contextTokensMax),
  });
}

function contextRefusal(body: Record<string, unknown>, tokensMax: number): Reply | undefined {
  const tokens = promptTokens(body);
  if (tokens <= tokensMax) return undefined;
  const message = `prompt is too long: ${tokens} tokens > ${tokensMax} maximum`;
  return refused(400, 'invalid_request_error', message);
}

function refusal(key: string, { headers, path, body }: RecordedRequest): Reply | undefined {
  if (headers['x-api-key'] !== key)
    return refused(401, 'authentication_error', 'invalid x-api-key');
  if (headers['anthropic-version'] !== '2023-06-01') {
    return refused(400, 'invalid_request_error', 'anthropic-version: header is required');
  }
  if (path !== '/v1/messages') return refused(404, 'not_found_error', path);
  const parsed = requestSchema.safeParse(body);
  const issue = parsed.error?.issues[0];
  const reason = parsed.success
    ? ruleBroken(parsed.data)
    : `${issue?.path.join('.')}: ${issue?.message}`;
  return reason === undefined ? undefined : refused(400, 'invalid_request_error', reason);
}

function ruleBroken(body: Body): string | undefined {
  const { messages, tools, model } = body;
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (messages.some(({ role }, at) => role === messages[at + 1]?.role))
    return 'roles must alternate';
  if (messages.at(-1)?.role === 'assistant') return 'conversation must end with a user message';
  const blocks = messages.flatMap(({ content }) => content);
  if (tools === undefined && blocks.some(({ type }) => type.startsWith('tool_'))) {
    return 'Requests which include tool blocks must define tools';
  }
  if (JSON.stringify(body).split('"cache_control"').length - 1 > BREAKPOINTS_MAX) {
    return 'A maximum of 4 blocks with cache_control may be provided';
  }
  if (body.temperature !== undefined && /-(sonnet|opus)-5/.test(model)) {
    return '`temperature` is deprecated for this model';
  }
  if (body.thinking !== undefined && /fable/.test(model)) return '`thinking` is not supported';
  return messages
    .map(({ content }, at) => turnBroken(content, messages[at + 1]?.content))
    .find(Boolean);
}

function turnBroken(content: InputBlock[], next: InputBlock[] | undefined): string | undefined {
  const uses = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  const firstOther = (next ?? []).findIndex(({ type }) => type !== 'tool_result');
  const leading = firstOther < 0 ? (next ?? []) : (next ?? []).slice(0, firstOther);
  const results = leading.flatMap((block) =>
    block.type === 'tool_result' ? [block.tool_use_id] : [],
  );
  const missing = uses.find((id) => !results.includes(id));
  if (missing !== undefined) {
    return `tool_use ids were found without tool_result blocks immediately after: ${missing}`;
  }
  for (const block of content) {
    if (block.type === 'thinking' && block.signature !== signatureOf(block.thinking)) {
      return '`thinking` blocks in the latest assistant message cannot be modified';
    }
  }
  const firstThinking = content.findIndex(({ type }) => /thinking$/.test(type));
  return firstThinking > 0 ? '`thinking` blocks must come first' : undefined;
}

/** What this fake signs a thought with. */
export function signatureOf(thinking: string): string {
  return `signed(${Buffer.from(thinking).toString('base64')})`;
}

export function refused(
  status: number,
  type: string,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json', 'request-id': 'req_1', ...headers },
    steps: [JSON.stringify({ type: 'error', error: { type, message }, request_id: 'req_1' })],
  };
}

export function event(value: { type: string } & Record<string, unknown>): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

export function started(
  usage: Record<string, unknown> = { input_tokens: 12, output_tokens: 1 },
): Step {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', content: [], usage };
  return event({ type: 'message_start', message });
}

export function stopped(
  stopReason: string,
  usage: Record<string, unknown> = { output_tokens: 9 },
): Step[] {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return [event({ type: 'message_delta', delta, usage }), event({ type: 'message_stop' })];
}

/** One block of an answer: how it starts, and its deltas. */
export function block(
  index: number,
  contentBlock: Record<string, unknown>,
  ...deltas: Record<string, unknown>[]
): Step[] {
  return [
    event({ type: 'content_block_start', index, content_block: contentBlock }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

export function textOf(index: number, ...texts: string[]): Step[] {
  const deltas = texts.map((text) => ({ type: 'text_delta', text }));
  return block(index, { type: 'text', text: '' }, ...deltas);
}

export function thought(index: number, thinking: string): Step[] {
  return block(
    index,
    { type: 'thinking', thinking: '', signature: '' },
    { type: 'thinking_delta', thinking },
    { type: 'signature_delta', signature: signatureOf(thinking) },
  );
}

/** A tool call with its arguments in the given pieces. */
export function toolUse(
  index: number,
  call: { id: string; name: string },
  ...json: string[]
): Step[] {
  const deltas = json.map((partialJson) => ({
    type: 'input_json_delta',
    partial_json: partialJson,
  }));
  return block(index, { type: 'tool_use', input: {}, ...call }, ...deltas);
}

/** A well-behaved answer, one delta per word. */
export function says(text: string): Reply {
  const words = text.match(/\S+\s*/g) ?? [];
  return {
    steps: [started(), event({ type: 'ping' }), ...textOf(0, ...words), ...stopped('end_turn')],
  };
}
