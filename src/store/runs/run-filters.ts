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
  /** Matches any of these. */
  dispositions?: readonly string[];
  durationMinS?: number;
  durationMaxS?: number;
  /** Fewest tokens of language models. */
  tokensMin?: number;
  tokensMax?: number;
  completed?: boolean;
  /** Matches all of these. */
  tags?: readonly string[];
  /** A part of the number. */
  callerNumber?: string;
  calledNumber?: string;
  direction?: Direction;
  /** Matches any of these. */
  modes?: readonly string[];
}

/** Rows that a list by duration can reach: pieces of it are merged in memory. */
export const ROWS_BY_DURATION_MAX = 10_000;

/** A page. By duration `offset + limit` is at most ROWS_BY_DURATION_MAX. */
export interface RunPage {
  filter: RunFilter;
  sortBy: 'created_at' | 'duration';
  descending: boolean;
  limit: number;
  offset: number;
}

/** A run whose call rings or is answered. */
export interface ActiveCall {
  run: Run;
  workflowName: string;
  /** Name in `nodes` of the process that runs the call. */
  node: string;
}

/** Position up to which a run's log was read. */
export interface EventCursor {
  runId: string;
  /** Number of the last event; 0 before the first. */
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
  createdAt: Date;
  endedAt: Date | null;
}
