// Part of an answer that all protocols share: the speakable text, the tool calls, and how the answer ended.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { LlmToolCall, VendorPart } from '../../../model/llm-message.ts';
import { isObject, parseExactJson } from '../../../std/json.ts';
import type { FinishReason, LlmRequest, LlmResponse } from '../llm.ts';
import { UnspokenFilter } from './unspoken-text.ts';
import { FUNCTION_NAME, ownNames } from './wire-names.ts';

/** Longest text of one answer, unspoken parts included: an hour of speech. */
const TEXT_CHARS_MAX = 64_000;
/** Tool calls of one answer. A model that makes more is faulty. */
const TOOL_CALLS_MAX = 32;
const ARGUMENT_CHARS_MAX = 1_000_000;
/** Longest id of a tool call: OpenAI refuses longer ones, which some servers produce. */
const ID_CHARACTERS_MAX = 40;
/** Longest opaque part that a service wants returned with an answer. */
const VENDOR_CHARACTERS_MAX = 64_000;

/** A tool call that may be incomplete. */
export interface ToolCallDraft {
  id: string;
  name: string;
  /** JSON text, or an object from services that send one. */
  arguments: string | Record<string, unknown>;
  vendor?: VendorPart | undefined;
}

export interface Ending {
  /** Finish reason as mapped from the service's. A tool call overrides it. */
  finish: FinishReason;
  /** Finish reason in the service's own words. */
  reason: string;
  vendor?: VendorPart | undefined;
}

export class AnswerDraft {
  readonly calls: ToolCallDraft[] = [];
  readonly #filter: UnspokenFilter;
  /** Maps the names sent to the service to the author's names of the functions. */
  readonly #names: ReadonlyMap<string, string>;
  /** Ids of all tool calls in the conversation. */
  readonly #ids: Set<string>;
  #text = '';
  #received = 0;

  constructor({ json, tools, messages }: Pick<LlmRequest, 'json' | 'tools' | 'messages'>) {
    this.#names = ownNames(
      tools.map(({ name }) => name),
      FUNCTION_NAME,
    );
    const made = messages.flatMap((each) => (each.role === 'assistant' ? each.toolCalls : []));
    this.#ids = new Set(made.map(({ id }) => id));
    this.#filter = new UnspokenFilter(json ? 'json' : 'speech', [...this.#names.keys()]);
  }

  /** Adds text. Returns the part that may be spoken. Throws LLM_MALFORMED beyond the limit. */
  say(delta: string): string {
    this.#received += delta.length;
    if (this.#received > TEXT_CHARS_MAX)
      throw new GatewayError('LLM_MALFORMED', { TEXT_CHARS_MAX });
    return this.#take(this.#filter.push(delta));
  }

  flush(): string {
    return this.#take(this.#filter.end());
  }

  #take(speakable: string): string {
    this.#text += speakable;
    return speakable;
  }

  addCall(call: ToolCallDraft): ToolCallDraft {
    if (this.calls.length >= TOOL_CALLS_MAX)
      throw new GatewayError('LLM_MALFORMED', { TOOL_CALLS_MAX });
    this.calls.push(call);
    return call;
  }

  addArguments(call: ToolCallDraft, given: string): void {
    const before = typeof call.arguments === 'string' ? call.arguments : '';
    call.arguments = before + given;
    if (call.arguments.length <= ARGUMENT_CHARS_MAX) return;
    throw new GatewayError('LLM_MALFORMED', { ARGUMENT_CHARS_MAX });
  }

  /** Completes the answer. Throws LLM_EMPTY, LLM_REFUSED or LLM_MALFORMED. */
  result(
    ending: Ending,
    newId: () => string,
  ): Omit<LlmResponse, 'usage' | 'firstTokenMs' | 'totalMs'> {
    const given = this.calls.filter((call) => call.name !== '');
    const toolCalls = given
      .map((call) => this.#finishCall(call, newId))
      .filter((call) => call !== undefined);
    const isWhole = toolCalls.length === given.length;
    const text = this.#text;
    const vendor = withinLimit(ending.vendor);
    if (toolCalls.length > 0 && isWhole) {
      return { text, toolCalls, finishReason: 'tool_calls', ...(vendor && { vendor }) };
    }
    if (text.trim() === '') throw this.#emptyError(ending, isWhole);
    const finishReason = isWhole ? ending.finish : 'malformed-tool';
    return { text, toolCalls: [], finishReason, ...(vendor && { vendor }) };
  }

  /** Returns undefined if the arguments cannot be parsed. */
  #finishCall(call: ToolCallDraft, newId: () => string): LlmToolCall | undefined {
    const { arguments: given } = call;
    const parsed = typeof given === 'string' ? argumentsOf(given) : given;
    if (!isObject(parsed)) return undefined;
    const vendor = withinLimit(call.vendor);
    const name = this.#names.get(call.name) ?? call.name;
    const id = this.#idOf(call, newId);
    return { id, name, arguments: parsed, ...(vendor && { vendor }) };
  }

  /** Returns the server's id unless another call has it. Some servers number the calls of each answer from the start,
   *  but services require unique ids in a conversation. */
  #idOf({ id: given }: ToolCallDraft, newId: () => string): string {
    let id = given.length > ID_CHARACTERS_MAX ? '' : given;
    while (id === '' || this.#ids.has(id)) id = newId();
    this.#ids.add(id);
    return id;
  }

  #emptyError({ finish, reason }: Ending, isWhole: boolean): GatewayError {
    if (finish === 'refusal' || finish === 'filtered')
      return new GatewayError('LLM_REFUSED', { reason });
    if (finish === 'malformed-tool' || !isWhole || this.#filter.leakedTool) {
      return new GatewayError('LLM_MALFORMED', { reason: 'unreadable tool call' });
    }
    return new GatewayError('LLM_EMPTY', { finish: reason });
  }
}

export function argumentsOf(text: string): unknown {
  const given = text.trim();
  return given === '' || given === 'null' ? {} : parseExactJson(given);
}

function withinLimit(vendor: VendorPart | undefined): VendorPart | undefined {
  if (vendor === undefined || JSON.stringify(vendor).length > VENDOR_CHARACTERS_MAX)
    return undefined;
  return vendor;
}

/** Model name without its date or release. Models of one family can read each other's opaque parts. */
export function modelFamily(model: string): string {
  return model.replace(/[-@](\d{8}|\d{4}-\d{2}-\d{2}|latest|preview.*|exp.*|\d{3})$/, '');
}

/** Data of an opaque part that this service and model family created. Undefined for any other's. */
export function ownVendorData(
  vendor: VendorPart | undefined,
  own: { service: string; model: string },
): unknown {
  const isOwn = vendor?.service === own.service && vendor.family === modelFamily(own.model);
  return isOwn ? vendor.data : undefined;
}
