// The records of text chats. Every change is a piece of work: claimed with the revision that the client has seen,
// and settled with the revision that the claim returned.

import type { Run } from '../../model/run.ts';
import type { TextChatStatus } from '../../model/text-chat.ts';

export interface TextChatTurn {
  /** `turn_` and twelve hexadecimal digits. */
  id: string;
  status: 'pending' | 'completed' | 'failed';
  /** Null where the agent opened. */
  userText: string | null;
  /** Null if the agent said nothing. */
  assistantText: string | null;
  answeredAt: Date | null;
  events: readonly Record<string, unknown>[];
  usage: Record<string, unknown>;
  /** Its last event when it was over; null while it is pending. */
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
  /** The last event of the settled work. */
  eventSeq: number;
  /** The process that works on it; `isOver` by the database's clock at the time of the read. */
  hold: { token: string; isThisNode: boolean; isOver: boolean } | null;
  /** Oldest first. */
  turns: TextChatTurn[];
  /** In the order of the rewinds. */
  discarded: DiscardedTurns[];
  /** The conversation's state, as stored with the last turn that counts. Null before. */
  state: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewTurn {
  id: string;
  userText: string | null;
}

/** A piece of work: `token` identifies it, after `ms` it counts as lost. */
export interface ChatLease {
  token: string;
  ms: number;
  /** Time from now until the silence ends the chat. */
  idleMs: number;
}

export interface Settled {
  status: Exclude<TextChatStatus, 'pending_assistant_turn'>;
  /** Its last stored event; the settlement is refused if the store does not have it. */
  eventSeq: number;
  /** Time until the next check. */
  dueMs: number;
  /** The result of the pending turn, if the work started one. */
  turn?: Pick<TextChatTurn, 'assistantText' | 'events' | 'usage'> & {
    status: 'completed' | 'failed';
    /** Absent if the turn does not count. */
    state?: Record<string, unknown>;
  };
  /** All turns after it are discarded; null continues from the last one. */
  rewindTo?: string | null;
}

/** `revision` at the time of the check: a later message means that the chat is not idle. */
export interface DueTextChat {
  runId: string;
  organizationId: string;
  revision: number;
  /** Another chat of the organization was due when it was claimed. */
  isFollowed: boolean;
}
