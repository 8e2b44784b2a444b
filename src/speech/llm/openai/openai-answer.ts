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

export function createOpenAiAnswer(form: AnswerForm, request: LlmRequest): AnswerReader {
  const draft = new AnswerDraft(request);
  const calls: Call[] = [];
  const details: Record<string, unknown>[] = [];
  const usage = { ...NO_USAGE };
  let reasoning = '';
  let finish: string | undefined;
  let refused = false;
  let begun = false;

  const vendor = (data: Record<string, unknown>): VendorPart => {
    return { service: form.service, family: modelFamily(form.model), data };
  };

  function takeUsage(chunk: Chunk): void {
    const given = chunk.usage ?? chunk.x_groq?.usage;
    if (given === null || given === undefined) return;
    const { prompt_tokens_details: prompt, completion_tokens_details: completion } = given;
    const cached = prompt?.cached_tokens ?? given.prompt_cache_hit_tokens;
    usage.promptTokens = given.prompt_tokens ?? usage.promptTokens;
    usage.completionTokens = given.completion_tokens ?? usage.completionTokens;
    usage.cachedTokens = cached ?? usage.cachedTokens;
    usage.cacheWriteTokens = prompt?.cache_write_tokens ?? usage.cacheWriteTokens;
    usage.reasoningTokens = completion?.reasoning_tokens ?? usage.reasoningTokens;
  }

  function takeCall(delta: ToolCallDelta): void {
    let call = findCall(calls, delta);
    if (call === undefined) {
      call = { index: delta.index ?? undefined, id: '', name: '', arguments: '' };
      draft.addCall(call);
      calls.push(call);
    }
    call.id ||= delta.id ?? '';
    call.name ||= delta.function?.name ?? '';
    const given = delta.function?.arguments ?? '';
    draft.addArguments(call, typeof given === 'string' ? given : JSON.stringify(given));
    if (isObject(delta.extra_content)) call.vendor = vendor({ extra_content: delta.extra_content });
  }

  function takePart(part: Part): string | undefined {
    if (part.refusal) refused = true;
    reasoning = (reasoning + (part.reasoning_content ?? '')).slice(0, REASONING_CHARS_MAX);
    for (const detail of part.reasoning_details ?? []) addDetail(details, detail);
    const given = part.tool_calls ?? [];
    for (const call of given) takeCall(call);
    const speakable = part.content === '' ? '' : draft.say(part.content);
    return speakable !== '' || given.length > 0 ? speakable : undefined;
  }

  function messageVendor(): VendorPart | undefined {
    const data = {
      ...(details.length > 0 && { reasoning_details: details }),
      ...(form.returnsReasoning && reasoning !== '' && { reasoning_content: reasoning }),
    };
    return Object.keys(data).length === 0 ? undefined : vendor(data);
  }

  return {
    get begun() {
      return begun;
    },
    get finished() {
      return finish !== undefined;
    },
    complete: false,
    add(value) {
      const parsed = chunkSchema.safeParse(value);
      if (!parsed.success) throw new GatewayError('LLM_MALFORMED', {}, parsed.error);
      takeUsage(parsed.data);
      const choice = parsed.data.choices?.find((each) => (each.index ?? 0) === 0);
      if (choice === undefined) return undefined;
      begun = true;
      finish = choice.finish_reason ?? finish;
      if (finish === 'error')
        throw new GatewayError('LLM_FAILED', { reason: 'finish_reason error' });
      const part = choice.delta ?? choice.message;
      return part === null || part === undefined ? undefined : takePart(part);
    },
    flush: () => draft.flush(),
    result(newId) {
      const ending = {
        finish: refused ? ('refusal' as const) : finishReason(finish),
        reason: refused ? 'refusal' : (finish ?? 'none'),
        vendor: messageVendor(),
      };
      return { ...draft.result(ending, newId), usage };
    },
  };
}

/** The call that `delta` continues: by index, but a new id under a known index is a new call, and so is a name
 *  behind arguments that are whole. */
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

/** Fragments of one kind and index are one: their texts are joined. */
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
