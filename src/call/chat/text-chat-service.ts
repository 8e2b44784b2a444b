// The API's interface to text chats.

import type { TextChat } from '../../store/runs/text-chat-records.ts';

export interface NewTextChat {
  organizationId: string;
  workflowId: string;
  /** Name of the run; null: one is generated. */
  name: string | null;
  initialContext: Record<string, unknown>;
  annotations: Record<string, unknown>;
}

export interface TextChatId {
  organizationId: string;
  workflowId: string;
  runId: string;
}

/** Every change throws TEXT_CHAT_CONFLICT, with the facts `expected` and `actual`, if the chat is not at the
 *  revision that the client expects (null expects none), or if another request is changing it. All but `create`
 *  throw TEXT_CHAT_NOT_FOUND and RUN_NOT_TEXT_CHAT. */
export interface TextChatService {
  /** Returns the chat with the agent's first words; with status `error` if they failed. Throws AGENT_NOT_FOUND,
   *  AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, WORKFLOW_INVALID. */
  create(wanted: NewTextChat): Promise<TextChat>;
  get(id: TextChatId): Promise<TextChat>;
  /** Sends the caller's words and returns the agent's answer. Throws TEXT_CHAT_ENDED, TEXT_CHAT_FULL,
   *  WORKFLOW_INVALID, TEXT_CHAT_TURN_FAILED. */
  say(id: TextChatId, text: string, expectedRevision: number | null): Promise<TextChat>;
  /** Ends the chat. A chat that has ended is unchanged. */
  end(id: TextChatId, expectedRevision: number | null): Promise<TextChat>;
  /** Returns to the state after that turn; null continues from the last one. Throws TEXT_CHAT_ENDED,
   *  TEXT_CHAT_TURN_NOT_FOUND. */
  rewind(id: TextChatId, turnId: string | null, expectedRevision: number | null): Promise<TextChat>;
}
