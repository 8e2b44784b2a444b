// Scope, filters, order and page of a query for runs. The statements are in run-list.ts. Source: contract §6.2.

import type { Direction } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';

/** The owner of the runs: an organization, or one of its agents or campaigns. */
export interface RunScope {
  organizationId: string;
  workflowId?: string;
  campaignId?: string;
}

/** A run matches if it meets every given condition. */
export interface RunFilter {
  id?: string;
  workflowId?: string;
  campaignId?: string;
  createdFrom?: Date;
  createdTo?: Date;
  /** Any of these. */
  dispositions?: readonly string[];
  durationMinS?: number;
  durationMaxS?: number;
  /** Tokens of language models. */
  tokensMin?: number;
  tokensMax?: number;
  completed?: boolean;
  /** All of these. */
  tags?: readonly string[];
  /** A part of the number. */
  callerNumber?: string;
  calledNumber?: string;
  direction?: Direction;
  /** Any of these. */
  modes?: readonly string[];
}

/** A list by duration has no further row: pieces of it are merged in memory. */
export const ROWS_BY_DURATION_MAX = 10_000;

/** By duration `offset + limit` is at most ROWS_BY_DURATION_MAX. */
export interface RunPage {
  filter: RunFilter;
  sortBy: 'created_at' | 'duration';
  descending: boolean;
  limit: number;
  offset: number;
}

/** A run whose call rings or talks. */
export interface ActiveCall {
  run: Run;
  workflowName: string;
  /** The process that runs the call, by its name in `nodes`. */
  node: string;
}

/** The position up to which a run's log has been read. */
export interface EventCursor {
  runId: string;
  /** Of the last event; 0 before the first. */
  seq: number;
}

/** A run for the event feed of an organization. */
export interface FollowedRun {
  id: string;
  workflowId: string;
  name: string;
  mode: string;
  callType: Direction;
  isCompleted: boolean;
  disposition: string | null;
}
