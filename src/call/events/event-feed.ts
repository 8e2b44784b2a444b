// Event feeds for clients that watch calls: in order, and from any point on. The stored logs are read behind cursors,
// so that no event is missed or sent twice, whichever node runs a call and however slow the client is.

import type { FeedbackItem } from './realtime-feedback.ts';

/** One message of a feed. */
export interface FeedMessage {
  /** The cursor after this message; null for a message that is not stored, which moves no cursor. */
  id: string | null;
  /** Kind of the message; null for events of a call. */
  event: 'started' | 'completed' | null;
  data: MessageData;
}

/** JSON of a message: every one has these three. */
export interface MessageData {
  type: string;
  payload: Record<string, unknown>;
  timestamp: string;
  [name: string]: unknown;
}

export interface EventFeed {
  /** The available messages; empty if there is nothing new. Throws STORE_UNAVAILABLE. */
  read(): Promise<FeedMessage[]>;
  /** Whether the feed has ended: no message follows. */
  readonly isOver: boolean;
  /** The cursor after all messages that were read; before the first read, that of the client. Empty: none, which is the
   *  beginning. */
  readonly place: string;
  /** Runs that are in the feed at the moment. */
  readonly runIds: Iterable<string>;
  /** A message for an item of a run that is not stored. */
  liveMessage(runId: string, item: FeedbackItem): FeedMessage;
}

/** Events of one run in one read at most. */
export const EVENTS_MAX = 500;

export function feedMessageOf(
  run: { id: string; workflowId: string },
  item: FeedbackItem,
  id: string | null,
): FeedMessage {
  const data = { workflow_run_id: run.id, workflow_id: run.workflowId, ...item };
  return { id, event: null, data };
}
