// Records of text chats. Every change is a piece of work: claimed with the revision that the client has seen, and
// settled with the revision that the claim returned.

import type { Run } from '../../model/run.ts';
import type { TextChatStatus } from '../../model/text-chat-status.ts';

export interface TextChatTurn {
  /** Id of the form `turn_` and twelve hexadecimal digits. */
  id: string;
  status: 'pending' | 'completed' | 'failed';
  /** Text of the user; null where the agent opened. */
  userText: string | null;
  /** Text of the agent; null if it said nothing. */
  assistantText: string | null;
  answeredAt: Date | null;
  events: readonly Record<string, unknown>[];
  usage: Record<string, unknown>;
  /** Number of its last event; null while the turn is pending. */
  eventSeq: number | null;
  createdAt: Date;
}

export interface DiscardedTurns {
  rewoundFromTurnId: string;
  discardedAt: Date;
  turns: TextChatTurn[];
}

export interface TextChat {
  run: Run;
  revision: number;
  status: TextChatStatus;
  cursorTurnId: string | null;
  /** Number of the settled work's last event. */
  eventSeq: number;
  /** The process that works on the chat; `isOver` by the database's clock at the time of the read. */
  hold: { token: string; isThisNode: boolean; isOver: boolean } | null;
  /** Turns that count, oldest first. */
  turns: TextChatTurn[];
  /** Discarded turns in the order of the rewinds. */
  discarded: DiscardedTurns[];
  /** State of the conversation, as stored with the last turn that counts. Null before one. */
  state: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewTurn {
  id: string;
  userText: string | null;
}

/** Lease of a piece of work: `token` identifies it, after `ms` it counts as lost. */
export interface ChatLease {
  token: string;
  ms: number;
  /** Milliseconds from now until the silence ends the chat. */
  idleMs: number;
}

export interface Settled {
  status: Exclude<TextChatStatus, 'pending_assistant_turn'>;
  /** Number of the work's last stored event; the settlement is refused if the store does not have it. */
  eventSeq: number;
  /** Milliseconds until the next check. */
  dueMs: number;
  /** Result of the pending turn, if the work started one. */
  turn?: Pick<TextChatTurn, 'assistantText' | 'events' | 'usage'> & {
    status: 'completed' | 'failed';
    /** New state; absent if the turn does not count. */
    state?: Record<string, unknown>;
  };
  /** Id of the turn after which all are discarded; null continues from the last one. */
  rewindTo?: string | null;
}

/** A chat to be checked. `revision`: at the time of the check; a later message means that the chat is not idle. */
export interface DueTextChat {
  runId: string;
  organizationId: string;
  revision: number;
  /** Whether another chat of the organization was due when it was claimed. */
  isFollowed: boolean;
}
