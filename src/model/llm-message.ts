// Data exchanged with a language model: messages, functions, calls. Shared by the workflow engine, which composes
// them, and speech/llm, which sends them.

/** Data that a service needs back with its own answer, such as signed reasoning. It is returned unchanged to the same
 *  service and model family, and omitted for any other. */
export interface VendorPart {
  service: string;
  family: string;
  /** Any JSON value. */
  data: unknown;
}

export interface LlmToolCall {
  /** Id of the call; we generate it if the server sends none. */
  id: string;
  name: string;
  /** Parsed arguments; an empty object if the server sent none. */
  arguments: Record<string, unknown>;
  vendor?: VendorPart;
}

export type LlmMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; toolCalls: readonly LlmToolCall[]; vendor?: VendorPart }
  | { role: 'tool'; callId: string; content: string };

export interface LlmTool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. */
  parameters: Record<string, unknown>;
}
