// What distinguishes one protocol of language models from another, for the client that they share (model-client).

import type { LlmRequest, LlmResponse } from '../llm.ts';
import type { Dialect, DialectRules } from './dialect.ts';
import type { ErrorFacts } from './service-error.ts';

export interface ModelProtocol {
  /** Below the base URL, with a query if there is one. */
  path: string;
  /** With the key. */
  headers: Record<string, string>;
  /** The request's body as JSON. */
  body(request: LlmRequest, dialect: Dialect): Record<string, unknown>;
  createAnswer(request: LlmRequest): AnswerReader;
  /** The error in a body or an event; undefined if it is none. */
  readError(value: unknown): ErrorFacts | undefined;
  dialect: DialectRules;
  /** A cheap request that opens a connection. */
  warmUp: WarmUp;
}

export interface WarmUp {
  method: 'GET' | 'POST';
  /** Below the base URL; with a leading slash from the server's root. */
  path: string;
  body?: Record<string, unknown>;
}

/** Reads one answer, event by event. */
export interface AnswerReader {
  /** Takes the value of an event, or the whole answer of a server that does not stream; returns the text that may
   *  be spoken, '' if none, undefined if the event is no token. Throws LLM_* codes. */
  add(value: unknown): string | undefined;
  /** Text that was held back. */
  flush(): string;
  /** A first token arrived, of any kind (reasoning too). */
  readonly begun: boolean;
  /** The server has said how the answer ended; the usage may follow. */
  readonly finished: boolean;
  /** Nothing follows. */
  readonly complete: boolean;
  /** Throws LLM_EMPTY, LLM_REFUSED, LLM_FAILED or LLM_MALFORMED. */
  result(newId: () => string): Omit<LlmResponse, 'firstTokenMs' | 'totalMs'>;
}
