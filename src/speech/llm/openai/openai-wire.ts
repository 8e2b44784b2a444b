// The wire format of OpenAI-compatible chat completions: the request's body, and the schemas of responses. The
// schemas allow fields that servers omit, send as null or add.
// Source: OpenAI API reference, "Create chat completion" and its streaming object.

import { z } from 'zod';
import type { LlmMessage, LlmTool } from '../../../model/llm-message.ts';
import type { LlmRequest } from '../llm.ts';

/** Optional parts that a server has refused, learned from its answers. */
export interface Dialect {
  /** Fields that the server does not accept. */
  without: Set<string>;
  /** The token limit is named max_completion_tokens. */
  completionTokens: boolean;
}

const toolCallDelta = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
});
export type ToolCallDelta = z.infer<typeof toolCallDelta>;

const message = z.object({
  content: z
    .union([z.string(), z.array(z.object({ text: z.string().nullish() }))])
    .nullish()
    .transform((content) =>
      typeof content === 'string'
        ? content
        : (content ?? []).map((part) => part.text ?? '').join(''),
    ),
  refusal: z.string().nullish(),
  tool_calls: z.array(toolCallDelta).nullish(),
});

const usage = z.object({
  prompt_tokens: z.number().nullish(),
  completion_tokens: z.number().nullish(),
  prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
});

/** For a chunk of a stream (`delta`) and a whole answer (`message`). */
export const chunkSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.number().nullish(),
        delta: message.nullish(),
        message: message.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: usage.nullish(),
  /** Groq's field for the usage of a stream. */
  x_groq: z.object({ usage: usage.nullish() }).nullish(),
});
export type Chunk = z.infer<typeof chunkSchema>;

const errorFacts = z.object({
  code: z.union([z.string(), z.number()]).nullish(),
  type: z.string().nullish(),
  param: z.string().nullish(),
  message: z.string().nullish(),
});
export type ErrorFacts = z.infer<typeof errorFacts>;

/** `{"error":{…}}`, `{"error":"text"}`, and `{"message":…}` or `{"detail":…}` of other servers. */
export const errorSchema = z.union([
  z.object({ error: errorFacts }).transform((body) => body.error),
  z.object({ error: z.string() }).transform((body): ErrorFacts => ({ message: body.error })),
  z.object({ detail: z.string() }).transform((body): ErrorFacts => ({ message: body.detail })),
  z.object({ message: z.string() }).and(errorFacts),
]);

export function requestBody(
  model: string,
  request: LlmRequest,
  dialect: Dialect,
  extra: Record<string, unknown>,
): string {
  const limit = dialect.completionTokens ? 'max_completion_tokens' : 'max_tokens';
  const body: Record<string, unknown> = {
    model,
    messages: request.messages.map(wireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 && { tools: request.tools.map(wireTool) }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.tokensMax !== undefined && { [limit]: request.tokensMax }),
    ...(request.json && { response_format: { type: 'json_object' } }),
    ...extra,
  };
  for (const field of dialect.without) delete body[field];
  return JSON.stringify(body);
}

function wireMessage(each: LlmMessage): Record<string, unknown> {
  if (each.role === 'tool') {
    return { role: 'tool', tool_call_id: each.callId, content: each.content };
  }
  if (each.role !== 'assistant' || each.toolCalls.length === 0) {
    return { role: each.role, content: each.content };
  }
  return {
    role: 'assistant',
    content: each.content === '' ? null : each.content,
    tool_calls: each.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: JSON.stringify(call.arguments) },
    })),
  };
}

function wireTool(tool: LlmTool): Record<string, unknown> {
  const { name, description, parameters } = tool;
  return { type: 'function', function: { name, description, parameters } };
}
