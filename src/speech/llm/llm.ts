// The interface of language models: streaming, abortable, with tools.

import type { LlmMessage, LlmTool, LlmToolCall, VendorPart } from '../../model/llm-message.ts';

export interface LlmRequest {
  messages: readonly LlmMessage[];
  tools: readonly LlmTool[];
  temperature: number | undefined;
  tokensMax: number | undefined;
  /** Asks for one JSON object as the answer (extraction). */
  json: boolean;
  /** Of the complete answer. Default: the model's limit, which suits an answer in a call. */
  totalMsMax?: number | undefined;
  /** Requests with the same one begin alike: a service that knows it serves them from one cache of prompts. */
  cacheKey?: string | undefined;
}

export interface LlmListener {
  /** Text to say, in pieces. Never reasoning. */
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

/** By the service's count. */
export interface LlmUsage {
  /** All of the prompt, cached or not. */
  promptTokens: number;
  /** With the reasoning. */
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
  /** Belongs to the message in the history. */
  vendor?: VendorPart;
  finishReason: FinishReason;
  usage: LlmUsage;
  firstTokenMs: number;
  totalMs: number;
  /** Of several models, the one that answered. Default: the one that was asked. */
  answeredBy?: { service: string; model: string };
}

export interface LanguageModel {
  readonly name: string;
  readonly model: string;
  /** Rejects with LLM_* codes, or with the signal's reason when aborted (the request is closed). */
  respond(request: LlmRequest, listener: LlmListener, signal: AbortSignal): Promise<LlmResponse>;
  /** Called while the phone rings: opens a connection ahead of the first request. Returns at once and never
   *  throws; a failure is counted, and appears again in the request. */
  prepare(): void;
  /** The same model, with what it remembers of one conversation. Default: it remembers nothing. */
  ofCall?(): LanguageModel;
  close(): Promise<void>;
}
