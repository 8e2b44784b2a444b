// Client for language models behind an OpenAI-compatible chat completions server. Differences between services are rows
// in profiles.ts; others are read as they come: tool calls in fragments or whole, without ids or indexes, text and
// calls mixed, usage early, late, in every chunk or never.
// Source: OpenAI API reference, "Create chat completion".

import { createHash } from 'node:crypto';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { LlmMessage, LlmTool, LlmToolCall, VendorPart } from '../../../model/llm-message.ts';
import { isObject } from '../../../std/json.ts';
import {
  AnswerDraft,
  argumentsOf,
  modelFamily,
  ownVendorData,
  type ToolCallDraft,
} from '../client/answer-draft.ts';
import type { Dialect } from '../client/dialect.ts';
import { ModelClient, type ModelMeans, modelOptions } from '../client/model-client.ts';
import type { AnswerReader, ModelProtocol } from '../client/protocol.ts';
import type { ErrorFacts } from '../client/service-error.ts';
import { FUNCTION_NAME, wireName } from '../client/wire-names.ts';
import { type FinishReason, type LanguageModel, type LlmRequest, NO_USAGE } from '../llm.ts';
import { type Chunk, chunkSchema, readOpenAiError, type ToolCallDelta } from './openai-wire.ts';
import { type ModelFamily, type OpenAiProfile, type ProfileName, profiles } from './profiles.ts';

interface OpenAiOptions extends ModelMeans {
  /** Service whose profile applies. Default: openai. */
  service?: ProfileName;
  model: string;
  /** Base URL including the version: `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Undefined for servers without keys. */
  apiKey: string | undefined;
  /** Default for requests without a temperature. */
  temperature?: number | undefined;
  /** Fields added to every request's body, such as `reasoning_effort`. */
  extra?: Record<string, unknown> | undefined;
  headers?: Record<string, string>;
}

/** Creates the model of any service with the interface from its settings. */
export function createChatModel(
  settings: Parameters<typeof modelOptions>[0] & { provider: ProfileName },
  means: ModelMeans,
  own: Pick<OpenAiOptions, 'headers' | 'temperature'> = {},
): LanguageModel {
  return createOpenAi({ ...means, ...own, ...modelOptions(settings), service: settings.provider });
}

const FIELDS = [
  'stream_options',
  'temperature',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'reasoning',
  'thinking',
  'chat_template_kwargs',
  'prompt_cache_key',
].map((field) => [field, new RegExp(`\\b${field}\\b`)] as const);
/** The one refusal that is not about a field: a user message directly after a tool result. */
const USER_AFTER_TOOL = 'user after tool';
/** Mistral's models behind other servers refuse a user message after a tool result, too. */
const OPTIONAL = [[USER_AFTER_TOOL, /role '?user'? after role '?tool/] as const, ...FIELDS];

export function createOpenAi(options: OpenAiOptions): LanguageModel {
  const { service = 'openai', model, apiKey } = options;
  const profile: OpenAiProfile = profiles[service];
  const { returnsReasoning, errorCodes } = profile;
  const { temperature, extra = {} } = options;
  const form = { service, model, profile, temperature, extra };
  const protocol: ModelProtocol = {
    path: 'chat/completions',
    headers: { ...keyHeader(profile, apiKey), ...profile.headers, ...options.headers },
    body: (request, dialect) => requestBody(form, request, dialect),
    createAnswer: (request) => new OpenAiAnswer({ service, model, returnsReasoning }, request),
    readError: (value) => renamed(readOpenAiError(value), errorCodes),
    dialect: { optional: OPTIONAL, renamed: /max_completion_tokens/ },
    warmUp: profile.warmUp(model),
  };
  return new ModelClient({ ...options, service, protocol });
}

function keyHeader({ keyHeader: name }: OpenAiProfile, apiKey: string | undefined) {
  if (apiKey === undefined) return {};
  return { [name]: name === 'authorization' ? `Bearer ${apiKey}` : apiKey };
}

function renamed(
  error: ErrorFacts | undefined,
  codes: OpenAiProfile['errorCodes'],
): ErrorFacts | undefined {
  const code = codes[String(error?.code)];
  return error === undefined || code === undefined ? error : { ...error, code };
}

/** Fragments of signed reasoning in one answer. */
const DETAILS_MAX = 64;
const REASONING_CHARS_MAX = 64_000;

interface AnswerForm {
  service: string;
  model: string;
  returnsReasoning: boolean;
}

type Part = NonNullable<NonNullable<Chunk['choices']>[number]['delta']>;
type Call = ToolCallDraft & { index: number | undefined };

class OpenAiAnswer implements AnswerReader {
  /** No chunk marks the end; the stream just ends. */
  readonly complete = false;
  #begun = false;
  #refused = false;
  #finish: string | undefined;
  #reasoning = '';
  readonly #usage = { ...NO_USAGE };
  readonly #form: AnswerForm;
  readonly #draft: AnswerDraft;
  readonly #calls: Call[] = [];
  readonly #details: Record<string, unknown>[] = [];

  constructor(form: AnswerForm, request: LlmRequest) {
    this.#form = form;
    this.#draft = new AnswerDraft(request);
  }

  get begun(): boolean {
    return this.#begun;
  }

  get finished(): boolean {
    return this.#finish !== undefined;
  }

  add(value: unknown): string | undefined {
    const parsed = chunkSchema.safeParse(value);
    if (!parsed.success) throw new GatewayError('LLM_MALFORMED', {}, parsed.error);
    this.#takeUsage(parsed.data);
    const choice = parsed.data.choices?.find((each) => (each.index ?? 0) === 0);
    if (choice === undefined) return undefined;
    this.#begun = true;
    this.#finish = choice.finish_reason ?? this.#finish;
    if (this.#finish === 'error')
      throw new GatewayError('LLM_FAILED', { reason: 'finish_reason error' });
    const part = choice.delta ?? choice.message;
    return part === null || part === undefined ? undefined : this.#takePart(part);
  }

  flush(): string {
    return this.#draft.flush();
  }

  result(newId: () => string): ReturnType<AnswerReader['result']> {
    const ending = {
      finish: this.#refused ? ('refusal' as const) : finishReason(this.#finish),
      reason: this.#refused ? 'refusal' : (this.#finish ?? 'none'),
      vendor: this.#messageVendor(),
    };
    return { ...this.#draft.result(ending, newId), usage: this.#usage };
  }

  #takeUsage(chunk: Chunk): void {
    const given = chunk.usage ?? chunk.x_groq?.usage;
    if (given === null || given === undefined) return;
    const { prompt_tokens_details: prompt, completion_tokens_details: completion } = given;
    const usage = this.#usage;
    const cached = prompt?.cached_tokens ?? given.prompt_cache_hit_tokens;
    usage.promptTokens = given.prompt_tokens ?? usage.promptTokens;
    usage.completionTokens = given.completion_tokens ?? usage.completionTokens;
    usage.cachedTokens = cached ?? usage.cachedTokens;
    usage.cacheWriteTokens = prompt?.cache_write_tokens ?? usage.cacheWriteTokens;
    usage.reasoningTokens = completion?.reasoning_tokens ?? usage.reasoningTokens;
  }

  #takePart(part: Part): string | undefined {
    if (part.refusal) this.#refused = true;
    const reasoning = this.#reasoning + (part.reasoning_content ?? '');
    this.#reasoning = reasoning.slice(0, REASONING_CHARS_MAX);
    for (const detail of part.reasoning_details ?? []) addDetail(this.#details, detail);
    const given = part.tool_calls ?? [];
    for (const call of given) this.#takeCall(call);
    const speakable = part.content === '' ? '' : this.#draft.say(part.content);
    return speakable !== '' || given.length > 0 ? speakable : undefined;
  }

  #takeCall(delta: ToolCallDelta): void {
    let call = findCall(this.#calls, delta);
    if (call === undefined) {
      call = { index: delta.index ?? undefined, id: '', name: '', arguments: '' };
      this.#draft.addCall(call);
      this.#calls.push(call);
    }
    call.id ||= delta.id ?? '';
    call.name ||= delta.function?.name ?? '';
    const given = delta.function?.arguments ?? '';
    this.#draft.addArguments(call, typeof given === 'string' ? given : JSON.stringify(given));
    const { extra_content } = delta;
    if (isObject(extra_content)) call.vendor = this.#vendor({ extra_content });
  }

  #messageVendor(): VendorPart | undefined {
    const details = this.#details;
    const returns = this.#form.returnsReasoning && this.#reasoning !== '';
    const data = {
      ...(details.length > 0 && { reasoning_details: details }),
      ...(returns && { reasoning_content: this.#reasoning }),
    };
    return Object.keys(data).length === 0 ? undefined : this.#vendor(data);
  }

  #vendor(data: Record<string, unknown>): VendorPart {
    const { service, model } = this.#form;
    return { service, family: modelFamily(model), data };
  }
}

/** Finds the call that `delta` continues, by index. A new id under a known index starts a new call, as does a name
 *  after complete arguments. */
function findCall(calls: Call[], delta: ToolCallDelta): Call | undefined {
  const index = delta.index ?? undefined;
  const named = (delta.function?.name ?? '') !== '';
  if (index === undefined && named) return undefined;
  const call = index === undefined ? calls.at(-1) : calls.findLast((each) => each.index === index);
  if (call === undefined || !named) return call;
  const otherId = delta.id && call.id && call.id !== delta.id;
  const isWhole =
    !delta.id && call.arguments !== '' && isObject(argumentsOf(String(call.arguments)));
  return otherId || isWhole ? undefined : call;
}

/** Adds a fragment. Fragments of one kind and index are joined. */
function addDetail(details: Record<string, unknown>[], detail: Record<string, unknown>): void {
  const known = details.find(
    (each) => each['type'] === detail['type'] && each['index'] === detail['index'],
  );
  if (known === undefined || detail['index'] === undefined) {
    if (details.length < DETAILS_MAX) details.push({ ...detail });
    return;
  }
  for (const [key, value] of Object.entries(detail)) {
    const before = known[key];
    const joins = ['text', 'summary', 'data'].includes(key) && typeof before === 'string';
    known[key] = joins && typeof value === 'string' ? before + value : (value ?? before);
  }
}

function finishReason(reason: string | undefined): FinishReason {
  if (reason === 'stop' || reason === 'length') return reason;
  if (reason === 'eos') return 'stop';
  return reason === 'content_filter' ? 'filtered' : 'other';
}

interface RequestForm {
  service: string;
  model: string;
  profile: OpenAiProfile;
  /** Default for requests without a temperature. */
  temperature: number | undefined;
  /** Fields from the configuration, which override all others. */
  extra: Record<string, unknown>;
}

/** Body of a request, adapted to the service's profile. */
function requestBody(
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
