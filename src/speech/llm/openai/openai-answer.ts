// Assembles an answer from the chunks of an OpenAI-compatible server. Servers differ: tool calls in fragments or
// whole, without ids or indexes, text and calls mixed, usage early, late or never.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { LlmToolCall } from '../../../model/llm-message.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import { type LlmResponse, NO_USAGE } from '../llm.ts';
import { createReasoningFilter } from '../reasoning-filter.ts';
import type { Chunk, ToolCallDelta } from './openai-wire.ts';

/** Longest text of one answer: an hour of speech. */
const TEXT_CHARS_MAX = 64_000;
/** Tool calls of one answer; more are a faulty model. */
const TOOL_CALLS_MAX = 32;
const ARGUMENT_CHARS_MAX = 1_000_000;

export interface AnswerBuilder {
  /** Takes a chunk; returns the text that may be spoken, '' if none. Throws LLM_MALFORMED beyond a limit. */
  add(chunk: Chunk): string;
  /** Text that was held back as possible reasoning. */
  flush(): string;
  /** A first token arrived, of any kind (reasoning too). */
  readonly begun: boolean;
  /** The server reported the end of the answer. */
  readonly finished: boolean;
  /** Throws LLM_EMPTY, LLM_REFUSED or LLM_MALFORMED. */
  result(newId: () => string): Omit<LlmResponse, 'firstTokenMs' | 'totalMs'>;
}

interface PartialCall {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
}

export function createAnswerBuilder(): AnswerBuilder {
  const reasoning = createReasoningFilter();
  const calls: PartialCall[] = [];
  const usage = { ...NO_USAGE };
  let text = '';
  let finish: string | undefined;
  let refused = false;
  let begun = false;

  function say(speakable: string): string {
    text += speakable;
    if (text.length > TEXT_CHARS_MAX) throw new GatewayError('LLM_MALFORMED', { TEXT_CHARS_MAX });
    return speakable;
  }

  function takeUsage(chunk: Chunk): void {
    const given = chunk.usage ?? chunk.x_groq?.usage;
    if (given === null || given === undefined) return;
    usage.promptTokens = given.prompt_tokens ?? usage.promptTokens;
    usage.completionTokens = given.completion_tokens ?? usage.completionTokens;
    usage.cachedTokens = given.prompt_tokens_details?.cached_tokens ?? usage.cachedTokens;
  }

  return {
    get begun() {
      return begun;
    },
    get finished() {
      return finish !== undefined;
    },
    add(chunk) {
      takeUsage(chunk);
      const choice = chunk.choices?.find((each) => (each.index ?? 0) === 0);
      if (choice === undefined) return '';
      begun = true;
      finish = choice.finish_reason ?? finish;
      const part = choice.delta ?? choice.message;
      if (part === null || part === undefined) return '';
      if (part.refusal) refused = true;
      for (const call of part.tool_calls ?? []) addToolCall(calls, call);
      return part.content === '' ? '' : say(reasoning.push(part.content));
    },
    flush: () => say(reasoning.end()),
    result(newId) {
      const toolCalls = calls
        .filter((call) => call.name !== '')
        .map((call) => finishCall(call, newId));
      if (text.trim() === '' && toolCalls.length === 0) {
        if (refused || finish === 'content_filter') {
          throw new GatewayError('LLM_REFUSED', { reason: finish ?? 'refusal' });
        }
        throw new GatewayError('LLM_EMPTY', { finish: finish ?? 'none' });
      }
      return { text, toolCalls, finishReason: finishReason(finish, toolCalls.length), usage };
    },
  };
}

function addToolCall(calls: PartialCall[], delta: ToolCallDelta): void {
  const call = findCall(calls, delta) ?? startCall(calls, delta);
  call.id ||= delta.id ?? '';
  call.name ||= delta.function?.name ?? '';
  const given = delta.function?.arguments ?? '';
  call.arguments += typeof given === 'string' ? given : JSON.stringify(given);
  if (call.arguments.length > ARGUMENT_CHARS_MAX) {
    throw new GatewayError('LLM_MALFORMED', { ARGUMENT_CHARS_MAX });
  }
}

/** The call that `delta` continues: by index, but a new id under a known index is a new call. */
function findCall(calls: PartialCall[], delta: ToolCallDelta): PartialCall | undefined {
  const index = delta.index ?? undefined;
  const named = (delta.function?.name ?? '') !== '';
  if (index === undefined && named) return undefined;
  const call = index === undefined ? calls.at(-1) : calls.findLast((each) => each.index === index);
  const otherId = delta.id && call?.id && call.id !== delta.id;
  return otherId && named ? undefined : call;
}

function startCall(calls: PartialCall[], delta: ToolCallDelta): PartialCall {
  if (calls.length >= TOOL_CALLS_MAX) throw new GatewayError('LLM_MALFORMED', { TOOL_CALLS_MAX });
  const call = { index: delta.index ?? undefined, id: '', name: '', arguments: '' };
  calls.push(call);
  return call;
}

function finishCall(call: PartialCall, newId: () => string): LlmToolCall {
  const given = call.arguments.trim();
  const parsed = given === '' || given === 'null' ? {} : parseJson(given);
  if (!isObject(parsed)) throw new GatewayError('LLM_MALFORMED', { tool: call.name });
  return { id: call.id || newId(), name: call.name, arguments: parsed };
}

function finishReason(reason: string | undefined, calls: number): LlmResponse['finishReason'] {
  if (calls > 0) return 'tool_calls';
  if (reason === 'stop' || reason === 'length') return reason;
  return 'other';
}
