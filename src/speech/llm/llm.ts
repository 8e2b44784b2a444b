// The interface of language models: streaming, abortable, with tools.

import type { LlmMessage, LlmTool, LlmToolCall, VendorPart } from '../../model/llm-message.ts';

export interface LlmRequest {
  messages: readonly LlmMessage[];
  tools: readonly LlmTool[];
  temperature: number | undefined;
  tokensMax: number | undefined;
  /** Whether the answer must be one JSON object (extraction). */
  json: boolean;
  /** Deadline for the complete answer. Default: the model's limit, which suits an answer in a call. */
  totalMsMax?: number | undefined;
  /** Requests with the same key share their beginning. A service that supports it serves them from one prompt cache. */
  cacheKey?: string | undefined;
}

export interface LlmListener {
  /** Called with each piece of text to say. Never with reasoning. */
  onText(delta: string): void;
}

/** refusal, filtered: the model or its service stopped after the text. malformed-tool: the text was followed by
 *  a tool call that cannot be read. Without text these are errors. */
export type FinishReason =
  | 'stop'
  | 'tool_calls'
  | 'length'
  | 'refusal'
  | 'filtered'
  | 'malformed-tool'
  | 'other';

/** Token usage as the service counted it. */
export interface LlmUsage {
  /** Tokens of the whole prompt, cached or not. */
  promptTokens: number;
  /** Tokens of the answer, reasoning included. */
  completionTokens: number;
  /** Tokens of the prompt that the service read from its cache. */
  cachedTokens: number;
  /** Tokens of the prompt that the service wrote to its cache. */
  cacheWriteTokens: number;
  reasoningTokens: number;
}

export const NO_USAGE: LlmUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

export interface LlmResponse {
  text: string;
  toolCalls: readonly LlmToolCall[];
  /** Opaque part that belongs to this message in the history. */
  vendor?: VendorPart;
  finishReason: FinishReason;
  usage: LlmUsage;
  firstTokenMs: number;
  totalMs: number;
  /** The model that answered, if there are several. Default: the one that was called. */
  answeredBy?: { service: string; model: string };
}

export interface LanguageModel {
  readonly name: string;
  readonly model: string;
  /** Rejects with LLM_* codes, or with the signal's reason when aborted (the request is closed). */
  respond(request: LlmRequest, listener: LlmListener, signal: AbortSignal): Promise<LlmResponse>;
  /** Opens a connection ahead of the first request, while the phone rings. Returns at once and never throws; a failure
   *  is counted, and appears again in the request. */
  prepare(): void;
  /** The same model with state for one conversation. Default: it has no such state. */
  ofCall?(): LanguageModel;
  close(): Promise<void>;
}

/** Ratio for English. Other languages have fewer characters per token. */
const CHARACTERS_PER_TOKEN = 4;

/** Estimated usage of an aborted request. Services report usage only at the end of an answer, but bill what was
 *  processed until they notice the abort. `text`: the part of the answer that arrived. */
export function estimatedUsage(
  { messages, tools }: Pick<LlmRequest, 'messages' | 'tools'>,
  text: string,
): LlmUsage {
  const prompt = messages.reduce((sum, { content }) => sum + content.length, 0);
  const functions = tools.length === 0 ? 0 : JSON.stringify(tools).length;
  return {
    ...NO_USAGE,
    promptTokens: tokensIn(prompt + functions),
    completionTokens: tokensIn(text.length),
  };
}

function tokensIn(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
