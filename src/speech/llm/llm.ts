// Language models: the interface that every one implements. Streaming, abortable, with tools.

import type { ModelMessage, ModelTool, ModelToolCall } from '../../model/llm-message.ts';

export interface ModelRequest {
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  temperature: number | undefined;
  tokensMax: number | undefined;
  /** Asks for one JSON object as the answer (extraction). */
  json: boolean;
}

export interface ModelListener {
  /** Text to say, as it comes. Reasoning never comes here. */
  onText(delta: string): void;
}

export interface ModelAnswer {
  text: string;
  toolCalls: readonly ModelToolCall[];
  finishReason: 'stop' | 'tool_calls' | 'length' | 'other';
  usage: { promptTokens: number; completionTokens: number; cachedTokens: number };
  firstTokenMs: number;
  totalMs: number;
}

export interface LanguageModel {
  readonly name: string;
  readonly model: string;
  /** Rejects with LLM_* codes, or with the signal's reason when aborted (the request is closed). */
  respond(
    request: ModelRequest,
    listener: ModelListener,
    signal: AbortSignal,
  ): Promise<ModelAnswer>;
  /** Opens the connection ahead of the first request (when the phone rings). Never throws. */
  prepare?(): void;
  close(): Promise<void>;
}
