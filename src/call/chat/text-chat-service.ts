// What the API asks of conversations in writing. The interface only.

import type { TextChat } from '../../store/runs/text-chat.ts';

export interface NewTextChat {
  organizationId: string;
  workflowId: string;
  /** Null: one is made up. */
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
 *  revision that the client expects (null expects none), or if somebody else is at work on it. All but
 *  `create` throw TEXT_CHAT_NOT_FOUND and RUN_NOT_TEXT_CHAT. */
export interface TextChatService {
  /** With the agent's first words; of the status `error` if they did not come. Throws AGENT_NOT_FOUND,
   *  AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, WORKFLOW_INVALID. */
  create(wanted: NewTextChat): Promise<TextChat>;
  get(id: TextChatId): Promise<TextChat>;
  /** The caller's words and the agent's answer. Throws TEXT_CHAT_ENDED, TEXT_CHAT_FULL, WORKFLOW_INVALID,
   *  TEXT_CHAT_TURN_FAILED. */
  say(id: TextChatId, text: string, expectedRevision: number | null): Promise<TextChat>;
  /** One that has ended stays as it is. */
  end(id: TextChatId, expectedRevision: number | null): Promise<TextChat>;
  /** Back to where it stood after that turn; null goes on from the last one. Throws TEXT_CHAT_ENDED,
   *  TEXT_CHAT_TURN_NOT_FOUND. */
  rewind(id: TextChatId, turnId: string | null, expectedRevision: number | null): Promise<TextChat>;
}
