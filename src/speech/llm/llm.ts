// The interface of language models: streaming, abortable, with tools.

import type { LlmMessage, LlmTool, LlmToolCall } from '../../model/llm-message.ts';

export interface LlmRequest {
  messages: readonly LlmMessage[];
  tools: readonly LlmTool[];
  temperature: number | undefined;
  tokensMax: number | undefined;
  /** Asks for one JSON object as the answer (extraction). */
  json: boolean;
}

export interface LlmListener {
  /** Text to say, in pieces. Never reasoning. */
  onText(delta: string): void;
}

export interface LlmResponse {
  text: string;
  toolCalls: readonly LlmToolCall[];
  finishReason: 'stop' | 'tool_calls' | 'length' | 'other';
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number };
  firstTokenMs: number;
  totalMs: number;
}

export interface LanguageModel {
  readonly name: string;
  readonly model: string;
  /** Rejects with LLM_* codes, or with the signal's reason when aborted (the request is closed). */
  respond(request: LlmRequest, listener: LlmListener, signal: AbortSignal): Promise<LlmResponse>;
  /** Called while the phone rings: opens a connection ahead of the first request. Returns at once and never
   *  throws; a failure is counted, and appears again in the request. */
  prepare(): void;
  close(): Promise<void>;
}
