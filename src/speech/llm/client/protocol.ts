// Protocol interface: what distinguishes one language model API from another, for the shared client (model-client).

import type { LlmRequest, LlmResponse } from '../llm.ts';
import type { Dialect, DialectRules } from './dialect.ts';
import type { ErrorFacts } from './service-error.ts';

export interface ModelProtocol {
  /** Path below the base URL, with a query if there is one. */
  path: string;
  /** Request headers, including the key. */
  headers: Record<string, string>;
  /** Builds the JSON body of a request. */
  body(request: LlmRequest, dialect: Dialect): Record<string, unknown>;
  createAnswer(request: LlmRequest): AnswerReader;
  /** Reads the error in a body or an event. Undefined if it has none. */
  readError(value: unknown): ErrorFacts | undefined;
  dialect: DialectRules;
  /** A cheap request that opens the connection. */
  warmUp: WarmUp;
}

export interface WarmUp {
  method: 'GET' | 'POST';
  /** Path below the base URL; with a leading slash, from the server's root. */
  path: string;
  body?: Record<string, unknown>;
}

/** Reads one answer event by event. */
export interface AnswerReader {
  /** Adds one event, or the whole answer if the server does not stream. Returns the text that may be spoken, '' for
   *  none, undefined if the event has no token. Throws LLM_* codes. */
  add(value: unknown): string | undefined;
  /** Returns the text that was held back. */
  flush(): string;
  /** Whether a first token of any kind (reasoning too) has arrived. */
  readonly begun: boolean;
  /** Whether the server has reported how the answer ended. The usage may follow. */
  readonly finished: boolean;
  /** Whether nothing more follows. */
  readonly complete: boolean;
  /** Returns the complete answer. Throws LLM_EMPTY, LLM_REFUSED, LLM_FAILED or LLM_MALFORMED. */
  result(newId: () => string): Omit<LlmResponse, 'firstTokenMs' | 'totalMs'>;
}
