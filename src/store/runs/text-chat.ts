// The records of text chats. Every change is a piece of work: it is taken by the
// revision that its maker has seen, and settled by the revision that taking it gave.

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
  /** The last event when it was over; null while it is pending. */
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
  /** The last event that belongs to what is settled. */
  eventSeq: number;
  /** Who is at work on it; `isOver` by the database's clock, when it was read. */
  hold: { token: string; isThisNode: boolean; isOver: boolean } | null;
  /** Oldest first. */
  turns: TextChatTurn[];
  /** In the order in which they were taken back. */
  discarded: DiscardedTurns[];
  /** Where the conversation stands: as it was stored with the last turn that counts. Null before. */
  state: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

export interface NewTurn {
  id: string;
  userText: string | null;
}

/** A piece of work: `token` is its name, after `ms` it is given up for lost. */
export interface ChatLease {
  token: string;
  ms: number;
  /** From now until the silence ends the chat. */
  idleMs: number;
}

export interface Settled {
  status: Exclude<TextChatStatus, 'pending_assistant_turn'>;
  /** Its last stored event; the work is refused if the store does not have it. */
  eventSeq: number;
  /** Until somebody looks after it. */
  dueMs: number;
  /** What became of the pending turn, if the work began one. */
  turn?: Pick<TextChatTurn, 'assistantText' | 'events' | 'usage'> & {
    status: 'completed' | 'failed';
    /** Left out if the turn counts for nothing. */
    state?: Record<string, unknown>;
  };
  /** All turns after it are discarded; null goes on from the last one. */
  rewindTo?: string | null;
}

/** `revision` when it was found due: whoever has written since is not silent. */
export interface DueTextChat {
  runId: string;
  organizationId: string;
  revision: number;
}
