// Body of a request for OpenAI-compatible chat completions, adapted to a service's profile.
// Source: OpenAI API reference, "Create chat completion".

import { createHash } from 'node:crypto';
import type { LlmMessage, LlmTool, LlmToolCall } from '../../../model/llm-message.ts';
import { isObject } from '../../../std/json.ts';
import { ownVendorData } from '../client/answer-draft.ts';
import type { Dialect } from '../client/dialect.ts';
import { FUNCTION_NAME, wireName } from '../client/wire-names.ts';
import type { LlmRequest } from '../llm.ts';
import type { ModelFamily, OpenAiProfile } from './profiles.ts';

/** The one refusal that is not about a field: a user message directly after a tool result. */
export const USER_AFTER_TOOL = 'user after tool';

export interface RequestForm {
  service: string;
  model: string;
  profile: OpenAiProfile;
  /** Default for requests without a temperature. */
  temperature: number | undefined;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

export function requestBody(
  form: RequestForm,
  request: LlmRequest,
  dialect: Dialect,
): Record<string, unknown> {
  const { model, profile } = form;
  const family = profile.families.find(({ models }) => models.test(model));
  const temperature = temperatureOf(form, request);
  const body: Record<string, unknown> = {
    model,
    messages: wireMessages(form, request.messages, dialect),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 && { tools: request.tools.map(wireTool) }),
    ...(temperature !== undefined && { temperature }),
    ...(request.tokensMax !== undefined && {
      [tokensField(profile, family, dialect)]: request.tokensMax,
    }),
    ...(request.json && { response_format: { type: 'json_object' } }),
    ...(request.cacheKey !== undefined &&
      profile.cacheKeyModels?.test(model) && { prompt_cache_key: request.cacheKey }),
    ...profile.body,
    ...family?.body,
    ...form.extra,
  };
  for (const field of [...profile.without, ...(family?.without ?? []), ...dialect.without]) {
    if (!(field in form.extra)) delete body[field];
  }
  return body;
}

function temperatureOf(
  { profile, temperature }: RequestForm,
  request: LlmRequest,
): number | undefined {
  const wish = request.temperature ?? temperature;
  if (wish === undefined) return undefined;
  return Math.min(profile.temperatureMax, Math.max(profile.temperatureMin, wish));
}

function tokensField(
  profile: OpenAiProfile,
  family: ModelFamily | undefined,
  dialect: Dialect,
): string {
  const field = family?.tokensField ?? profile.tokensField;
  if (!dialect.renamed) return field;
  return field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
}

function wireMessages(
  form: RequestForm,
  messages: readonly LlmMessage[],
  dialect: Dialect,
): Record<string, unknown>[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  const answersTools = form.profile.answersTools || dialect.without.has(USER_AFTER_TOOL);
  const wire = messages.flatMap((each, index) => {
    const isUnanswered = each.role === 'user' && messages[index - 1]?.role === 'tool';
    const answer = answersTools && isUnanswered ? [{ role: 'assistant', content: '…' }] : [];
    return [...answer, wireMessage(form, each, index > lastUser)];
  });
  const last = messages.at(-1)?.role;
  if (form.profile.endsWithUser && last !== 'user' && last !== 'tool') {
    wire.push({ role: 'user', content: '…' });
  }
  return wire;
}

/** `isInLoop`: whether the model continues after its own tool calls. */
function wireMessage(
  form: RequestForm,
  each: LlmMessage,
  isInLoop: boolean,
): Record<string, unknown> {
  if (each.role === 'tool') {
    return { role: 'tool', tool_call_id: toolId(form, each.callId), content: each.content };
  }
  if (each.role !== 'assistant') return { role: each.role, content: each.content };
  const kept = ownVendorData(each.vendor, form);
  const { reasoning_content: reasoning, ...own } = isObject(kept) ? kept : {};
  const returned =
    isInLoop && reasoning !== undefined ? { ...own, reasoning_content: reasoning } : own;
  if (each.toolCalls.length === 0) return { role: 'assistant', content: each.content, ...returned };
  return {
    role: 'assistant',
    content: each.content === '' ? null : each.content,
    tool_calls: each.toolCalls.map((call) => wireCall(form, call)),
    ...returned,
  };
}

function wireCall(form: RequestForm, call: LlmToolCall): Record<string, unknown> {
  const kept = ownVendorData(call.vendor, form);
  return {
    id: toolId(form, call.id),
    type: 'function',
    function: {
      name: wireName(call.name, FUNCTION_NAME),
      arguments: JSON.stringify(call.arguments),
    },
    ...(isObject(kept) ? kept : {}),
  };
}

/** A tool call id in the form that this service accepts. */
function toolId({ profile }: RequestForm, id: string): string {
  if (!profile.shortToolIds || /^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}

function wireTool(tool: LlmTool): Record<string, unknown> {
  const { name, description, parameters } = tool;
  const own = { name: wireName(name, FUNCTION_NAME), description, parameters };
  return { type: 'function', function: own };
}
