// Assembles an answer from the events of Anthropic's Messages API. Thinking is never spoken; its blocks are returned
// unchanged with the next request.
// Source: Anthropic API reference, "Streaming Messages"; types of @anthropic-ai/sdk 1.12.

import { z } from 'zod';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { LlmToolCall } from '../../../model/llm-message.ts';
import { isObject } from '../../../std/json.ts';
import { AnswerDraft, modelFamily, type ToolCallDraft } from '../../llm/client/answer-draft.ts';
import type { AnswerReader } from '../../llm/client/protocol.ts';
import type { ErrorFacts } from '../../llm/client/service-error.ts';
import { ownArguments } from '../../llm/client/wire-names.ts';
import { type FinishReason, type LlmRequest, type LlmUsage, NO_USAGE } from '../../llm/llm.ts';
import { ARGUMENT_NAME } from './anthropic-request.ts';

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

export function readAnthropicError(value: unknown): ErrorFacts | undefined {
  const parsed = error.safeParse(value);
  return parsed.success ? parsed.data.error : undefined;
}

type Block = z.infer<typeof block>;

export class AnthropicAnswer implements AnswerReader {
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
