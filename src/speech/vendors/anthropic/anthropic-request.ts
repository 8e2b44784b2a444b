// Body of a request to Anthropic's Messages API: system prompt and tools at the top, alternating roles, tool results
// first in the user's turn, prompt cache breakpoints after the system prompt and the last turn.
// Source: Anthropic API reference, "Create a Message"; types of @anthropic-ai/sdk 1.12.

import type { LlmMessage, LlmTool } from '../../../model/llm-message.ts';
import { ownVendorData } from '../../llm/client/answer-draft.ts';
import type { Dialect } from '../../llm/client/dialect.ts';
import { FUNCTION_NAME, type NameRule, wireName, wireSchema } from '../../llm/client/wire-names.ts';
import type { LlmRequest } from '../../llm/llm.ts';

/** The service requires a limit. A spoken answer is far shorter. */
const TOKENS_DEFAULT = 2_048;
/** Argument names that the service accepts. It refuses the request otherwise. */
export const ARGUMENT_NAME: NameRule = /^[\w.-]{1,64}$/;
const EPHEMERAL = { type: 'ephemeral' } as const;
const JSON_ONLY = 'Answer with one JSON object and nothing else.';

interface Family {
  models: RegExp;
  without: readonly string[];
  body: Record<string, unknown>;
}

/** Settings for the least thinking that each model family accepts. */
const FAMILIES: readonly Family[] = [
  {
    models: /fable|mythos/,
    without: ['temperature'],
    body: { output_config: { effort: 'low' } },
  },
  {
    models: /-(sonnet|opus)-(5|[6-9])|-opus-4-[78]/,
    without: ['temperature'],
    body: { thinking: { type: 'disabled' } },
  },
  { models: /-haiku-([5-9])/, without: [], body: { thinking: { type: 'disabled' } } },
];

type Block = { type: string } & Record<string, unknown>;
interface Turn {
  role: 'user' | 'assistant';
  content: Block[];
}

export interface AnthropicForm {
  service: string;
  model: string;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

export function requestBody(
  form: AnthropicForm,
  request: LlmRequest,
  dialect: Dialect,
): Record<string, unknown> {
  const family = FAMILIES.find(({ models }) => models.test(form.model));
  const system = systemBlocks(request);
  const tools = request.tools.length > 0 ? request.tools : toolsOfHistory(request.messages);
  const wireTools: Record<string, unknown>[] = tools.map(wireTool);
  const lastTool = wireTools.at(-1);
  if (system.length === 0 && lastTool !== undefined) lastTool['cache_control'] = EPHEMERAL;
  const body: Record<string, unknown> = {
    model: form.model,
    max_tokens: request.tokensMax ?? TOKENS_DEFAULT,
    stream: true,
    ...(system.length > 0 && { system }),
    messages: turnsOf(form, request.messages),
    ...(wireTools.length > 0 && { tools: wireTools }),
    ...(wireTools.length > 0 && request.tools.length === 0 && { tool_choice: { type: 'none' } }),
    ...(request.temperature !== undefined && { temperature: Math.min(1, request.temperature) }),
    ...family?.body,
    ...form.extra,
  };
  for (const field of [...(family?.without ?? []), ...dialect.without]) {
    if (!(field in form.extra)) delete body[field];
  }
  return body;
}

function systemBlocks({ messages, json }: LlmRequest): Block[] {
  const texts = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const text = [...texts, ...(json ? [JSON_ONLY] : [])].join('\n\n').trim();
  return text === '' ? [] : [{ type: 'text', text, cache_control: EPHEMERAL }];
}

function wireTool({ name, description, parameters }: LlmTool): Record<string, unknown> {
  const own = { name: wireName(name, FUNCTION_NAME), description };
  return { ...own, input_schema: { type: 'object', ...wireSchema(parameters, ARGUMENT_NAME) } };
}

/** Declares the tools of the history. The service requires this even if none may be called. */
function toolsOfHistory(messages: readonly LlmMessage[]): LlmTool[] {
  const calls = messages.flatMap((each) => (each.role === 'assistant' ? each.toolCalls : []));
  const names = new Set(calls.map(({ name }) => name));
  return [...names].map((name) => ({ name, description: '', parameters: { type: 'object' } }));
}

function turnsOf(form: AnthropicForm, messages: readonly LlmMessage[]): Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const role = message.role === 'assistant' ? 'assistant' : 'user';
    const content = blocksOf(form, message);
    if (content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === role) last.content.push(...content);
    else turns.push({ role, content });
  }
  if (turns[0]?.role !== 'user') turns.unshift({ role: 'user', content: [textBlock('.')] });
  // Newer models refuse to continue a turn of the assistant.
  if (turns.at(-1)?.role === 'assistant') turns.push({ role: 'user', content: [textBlock('…')] });
  for (const { content } of turns) content.sort((a, b) => rank(a) - rank(b));
  const last = turns.at(-1)?.content.at(-1);
  if (last !== undefined) last['cache_control'] = EPHEMERAL;
  return turns;
}

/** Sort key: tool results come first in a turn. The sort is stable. */
function rank({ type }: Block): number {
  return type === 'tool_result' ? 0 : 1;
}

function blocksOf(form: AnthropicForm, message: LlmMessage): Block[] {
  if (message.role === 'tool') {
    const { callId, content } = message;
    return [{ type: 'tool_result', tool_use_id: toolId(callId), content }];
  }
  const text = message.content.trim();
  const texts = text === '' ? [] : [textBlock(text)];
  if (message.role !== 'assistant') return texts;
  const thinking = ownVendorData(message.vendor, form);
  return [
    ...(Array.isArray(thinking) ? thinking : []),
    ...texts,
    ...message.toolCalls.map(({ id, name, arguments: input }) => {
      return { type: 'tool_use', id: toolId(id), name: wireName(name, FUNCTION_NAME), input };
    }),
  ];
}

/** A tool call id in the characters that Anthropic accepts: ids of other services may have others. */
function toolId(id: string): string {
  return id.replace(/[^\w-]/g, '_');
}

function textBlock(text: string): Block {
  return { type: 'text', text };
}
