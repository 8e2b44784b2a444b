// Assembles an answer from the chunks of an OpenAI-compatible server. Servers differ: tool calls in fragments or
// whole, without ids or indexes, text and calls mixed, usage early, late, in every chunk or never.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { VendorPart } from '../../../model/llm-message.ts';
import { isObject } from '../../../std/json.ts';
import {
  AnswerDraft,
  argumentsOf,
  modelFamily,
  type ToolCallDraft,
} from '../client/answer-draft.ts';
import type { AnswerReader } from '../client/protocol.ts';
import { type FinishReason, type LlmRequest, NO_USAGE } from '../llm.ts';
import { type Chunk, chunkSchema, type ToolCallDelta } from './openai-wire.ts';

/** Fragments of signed reasoning in one answer. */
const DETAILS_MAX = 64;
const REASONING_CHARS_MAX = 64_000;

export interface AnswerForm {
  service: string;
  model: string;
  returnsReasoning: boolean;
}

type Part = NonNullable<NonNullable<Chunk['choices']>[number]['delta']>;
type Call = ToolCallDraft & { index: number | undefined };

export class OpenAiAnswer implements AnswerReader {
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
