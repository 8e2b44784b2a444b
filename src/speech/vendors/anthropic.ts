// Anthropic: language models over the Messages API. System prompt and tools stand at the top of a request, roles
// alternate, tool results come first in the user's turn, and prompt cache breakpoints follow the system prompt and the
// last turn. Thinking is never spoken; its blocks are returned unchanged with the next request.
// Source: Anthropic API reference, "Create a Message" and "Streaming Messages"; types of @anthropic-ai/sdk 1.12.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { LlmMessage, LlmTool, LlmToolCall } from '../../model/llm-message.ts';
import type { LlmServiceSettings } from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import {
  AnswerDraft,
  modelFamily,
  ownVendorData,
  type ToolCallDraft,
} from '../llm/client/answer-draft.ts';
import type { Dialect, OptionalField } from '../llm/client/dialect.ts';
import { ModelClient, type ModelMeans, modelOptions } from '../llm/client/model-client.ts';
import type { AnswerReader } from '../llm/client/protocol.ts';
import type { ErrorFacts } from '../llm/client/service-error.ts';
import {
  FUNCTION_NAME,
  type NameRule,
  ownArguments,
  wireName,
  wireSchema,
} from '../llm/client/wire-names.ts';
import {
  type FinishReason,
  type LanguageModel,
  type LlmRequest,
  type LlmUsage,
  NO_USAGE,
} from '../llm/llm.ts';
import { at, header, type Vendor } from './vendor.ts';

export const anthropic = {
  llm: (settings: LlmServiceSettings<'anthropic'>, means: ModelMeans) =>
    createAnthropic({ ...means, ...modelOptions(settings) }),
  keyCheck: {
    url: at('https://api.anthropic.com', '/v1/models?limit=1'),
    headers: header('x-api-key', { 'anthropic-version': '2023-06-01' }),
  },
} satisfies Vendor;

interface AnthropicOptions extends ModelMeans {
  model: string;
  /** Base URL including the version: `https://api.anthropic.com/v1`. */
  baseUrl: string;
  apiKey: string | undefined;
  /** Fields added to every request's body. */
  extra?: Record<string, unknown> | undefined;
}

const OPTIONAL_FIELDS: readonly OptionalField[] = [
  ['temperature', /\btemperature\b/],
  ['thinking', /\bthinking\b/],
  ['output_config', /\b(output_config|effort)\b/],
];

export function createAnthropic(options: AnthropicOptions): LanguageModel {
  const { model, apiKey, extra = {} } = options;
  const form = { service: 'anthropic', model, extra };
  return new ModelClient({
    ...options,
    service: form.service,
    protocol: {
      path: 'messages',
      headers: {
        'anthropic-version': '2023-06-01',
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      },
      body: (request, dialect) => requestBody(form, request, dialect),
      createAnswer: (request) => new AnthropicAnswer(form, request),
      readError: readAnthropicError,
      dialect: { optional: OPTIONAL_FIELDS },
      warmUp: { method: 'GET', path: 'models?limit=1' },
    },
  });
}

/** Blocks of all kinds in one answer. */
const BLOCKS_MAX = 128;
const THINKING_CHARS_MAX = 200_000;

const block = z.looseObject({ type: z.string() });
const usageFields = z.object({
  input_tokens: z.number().nullish(),
  output_tokens: z.number().nullish(),
  cache_creation_input_tokens: z.number().nullish(),
  cache_read_input_tokens: z.number().nullish(),
  output_tokens_details: z.object({ thinking_tokens: z.number().nullish() }).nullish(),
});
type UsageFields = z.infer<typeof usageFields>;

const event = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ usage: usageFields.nullish() }),
  }),
  z.object({ type: z.literal('content_block_start'), index: z.number(), content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index: z.number(), delta: block }),
  z.object({ type: z.literal('content_block_stop'), index: z.number() }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage: usageFields.nullish(),
  }),
  z.object({ type: z.literal('message_stop') }),
  z.object({ type: z.literal('ping') }),
]);
type Event = z.infer<typeof event>;
const kinds = new Set(event.options.map(({ shape }) => shape.type.value as string));

const error = z.object({
  type: z.literal('error'),
  error: z.object({ type: z.string().nullish(), message: z.string().nullish() }),
});

function readAnthropicError(value: unknown): ErrorFacts | undefined {
  const parsed = error.safeParse(value);
  return parsed.success ? parsed.data.error : undefined;
}

type Block = z.infer<typeof block>;

class AnthropicAnswer implements AnswerReader {
  #begun = false;
  #complete = false;
  #stopReason: string | undefined;
  #usage: LlmUsage = NO_USAGE;
  readonly #form: { service: string; model: string };
  readonly #tools: LlmRequest['tools'];
  readonly #draft: AnswerDraft;
  readonly #blocks = new Map<number, { given: Block; call?: ToolCallDraft }>();

  constructor(form: { service: string; model: string }, request: LlmRequest) {
    this.#form = form;
    this.#tools = request.tools;
    this.#draft = new AnswerDraft(request);
  }

  get begun(): boolean {
    return this.#begun;
  }

  get finished(): boolean {
    return this.#stopReason !== undefined;
  }

  get complete(): boolean {
    return this.#complete;
  }

  add(value: unknown): string | undefined {
    if (!isObject(value)) throw new GatewayError('LLM_MALFORMED', {});
    // The service adds events without notice.
    if (!kinds.has(text(value['type']))) return undefined;
    const parsed = event.safeParse(value);
    if (!parsed.success) throw new GatewayError('LLM_MALFORMED', {}, parsed.error);
    return this.#take(parsed.data);
  }

  flush(): string {
    return this.#draft.flush();
  }

  result(newId: () => string): ReturnType<AnswerReader['result']> {
    const all = [...this.#blocks.values()];
    for (const { given, call } of all) {
      if (call?.arguments === '' && isObject(given['input'])) call.arguments = given['input'];
    }
    const thinking = all.map(({ given }) => given).filter(isThinking);
    const { service, model } = this.#form;
    const vendor = { service, family: modelFamily(model), data: thinking };
    const ending = {
      finish: finishReason(this.#stopReason),
      reason: this.#stopReason ?? 'none',
      ...(thinking.length > 0 && { vendor }),
    };
    const { toolCalls, ...rest } = this.#draft.result(ending, newId);
    return { ...rest, toolCalls: toolCalls.map((call) => this.#own(call)), usage: this.#usage };
  }

  #own(call: LlmToolCall): LlmToolCall {
    const schema = this.#tools.find(({ name }) => name === call.name)?.parameters;
    return { ...call, arguments: ownArguments(call.arguments, schema, ARGUMENT_NAME) };
  }

  #take(given: Event): string | undefined {
    this.#complete ||= given.type === 'message_stop';
    switch (given.type) {
      case 'message_start':
        this.#usage = usageOf(given.message.usage, this.#usage);
        return undefined;
      case 'content_block_start':
        this.#begun = true;
        return this.#start(given.index, given.content_block);
      case 'content_block_delta':
        return this.#extend(given.index, given.delta);
      case 'message_delta':
        this.#stopReason = given.delta.stop_reason ?? this.#stopReason;
        this.#usage = usageOf(given.usage, this.#usage);
        return undefined;
      default:
        return undefined;
    }
  }

  #start(index: number, given: Block): string | undefined {
    if (this.#blocks.size >= BLOCKS_MAX) throw new GatewayError('LLM_MALFORMED', { BLOCKS_MAX });
    this.#blocks.set(index, { given });
    if (given.type === 'text') return this.#say(given['text']);
    if (given.type !== 'tool_use') return undefined;
    const begun = { id: text(given['id']), name: text(given['name']), arguments: '' };
    this.#blocks.set(index, { given, call: this.#draft.addCall(begun) });
    return '';
  }

  #extend(index: number, delta: Block): string | undefined {
    const current = this.#blocks.get(index);
    if (current === undefined) throw new GatewayError('LLM_MALFORMED', { index });
    const { given, call } = current;
    if (delta.type === 'text_delta') return this.#say(delta['text']);
    if (delta.type === 'input_json_delta') {
      if (call === undefined) throw new GatewayError('LLM_MALFORMED', { index });
      this.#draft.addArguments(call, text(delta['partial_json']));
    }
    if (delta.type === 'thinking_delta') append(given, 'thinking', delta['thinking']);
    if (delta.type === 'signature_delta') append(given, 'signature', delta['signature']);
    return undefined;
  }

  #say(words: unknown): string | undefined {
    const speakable = text(words) === '' ? '' : this.#draft.say(text(words));
    return speakable === '' ? undefined : speakable;
  }
}

/** Merges token counts. They are cumulative: the last value of each field is the total. */
function usageOf(given: UsageFields | null | undefined, before: LlmUsage): LlmUsage {
  if (given === null || given === undefined) return before;
  const cachedTokens = given.cache_read_input_tokens ?? before.cachedTokens;
  const cacheWriteTokens = given.cache_creation_input_tokens ?? before.cacheWriteTokens;
  const uncached = before.promptTokens - before.cachedTokens - before.cacheWriteTokens;
  return {
    promptTokens: (given.input_tokens ?? uncached) + cachedTokens + cacheWriteTokens,
    completionTokens: given.output_tokens ?? before.completionTokens,
    cachedTokens,
    cacheWriteTokens,
    reasoningTokens: given.output_tokens_details?.thinking_tokens ?? before.reasoningTokens,
  };
}

function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

function append(given: Block, field: string, more: unknown): void {
  given[field] = text(given[field]) + text(more);
  if (text(given[field]).length <= THINKING_CHARS_MAX) return;
  throw new GatewayError('LLM_MALFORMED', { THINKING_CHARS_MAX });
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function finishReason(reason: string | undefined): FinishReason {
  if (reason === 'end_turn' || reason === 'stop_sequence') return 'stop';
  if (reason === 'max_tokens' || reason === 'model_context_window_exceeded') return 'length';
  return reason === 'refusal' ? 'refusal' : 'other';
}

/** The service requires a limit. A spoken answer is far shorter. */
const TOKENS_DEFAULT = 2_048;
/** Argument names that the service accepts. It refuses the request otherwise. */
const ARGUMENT_NAME: NameRule = /^[\w.-]{1,64}$/;
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

type SentBlock = { type: string } & Record<string, unknown>;
interface Turn {
  role: 'user' | 'assistant';
  content: SentBlock[];
}

interface AnthropicForm {
  service: string;
  model: string;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

function requestBody(
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

function systemBlocks({ messages, json }: LlmRequest): SentBlock[] {
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
function rank({ type }: SentBlock): number {
  return type === 'tool_result' ? 0 : 1;
}

function blocksOf(form: AnthropicForm, message: LlmMessage): SentBlock[] {
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

function textBlock(text: string): SentBlock {
  return { type: 'text', text };
}
