// Feeds of events for clients that watch calls, in order and from any point on. The stored logs are read behind
// cursors, so that no event is missed or sent twice, whichever node runs a call and however slow the client is.

import type { FeedbackItem } from './realtime-feedback.ts';

/** One message. `data` is JSON. */
export interface FeedMessage {
  /** The cursor after this message; null for a message that is not stored. */
  id: string | null;
  /** Null for events of a call; else the message's kind. */
  event: 'started' | 'completed' | null;
  data: Record<string, unknown>;
}

export interface EventFeed {
  /** The available messages; empty if there is nothing new. Throws STORE_UNAVAILABLE. */
  read(): Promise<FeedMessage[]>;
  /** There will be nothing more. */
  readonly isOver: boolean;
  /** Runs in the feed at the moment. */
  readonly runIds: Iterable<string>;
  /** For a run's item that is not stored. */
  liveMessage(runId: string, item: FeedbackItem): FeedMessage;
}

/** Events of one run in one read. */
export const EVENTS_MAX = 500;

export function feedMessageOf(
  run: { id: string; workflowId: string },
  item: FeedbackItem,
  id: string | null,
): FeedMessage {
  const data = { workflow_run_id: run.id, workflow_id: run.workflowId, ...item };
  return { id, event: null, data };
}
