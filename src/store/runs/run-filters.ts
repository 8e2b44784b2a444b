// Scope, filters, order and page of a query for runs. The statements are in run-list.ts. Source: contract §6.2.

import type { Direction } from '../../model/provider.ts';
import type { Run, RunState } from '../../model/run.ts';
import type { AttentionReason } from '../../model/run-summary.ts';

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
  state?: RunState;
  /** Matches all of these. */
  tags?: readonly string[];
  /** A part of the number. */
  callerNumber?: string;
  calledNumber?: string;
  /** The end of the caller's or the called number. */
  number?: string;
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

/** Position of a run in the order of age: microseconds since 1970, and its id. */
export interface RunPosition {
  createdAtUs: string;
  id: string;
}

/** A search of all runs, newest first, from `after` on. */
export interface RunSearch {
  filter: RunFilter;
  /** Only runs that need attention. */
  needsAttention: boolean;
  /** Words that the run has, each of them. Only runs that are over have words. */
  text?: string | undefined;
  after?: RunPosition | undefined;
  limit: number;
}

export interface FoundRun {
  run: Run;
  workflowName: string;
  /** Name in `nodes` of the process that has or had the call. */
  node: string;
  /** Null for a run that goes on, or ended in an earlier version. */
  summary: {
    attention: readonly AttentionReason[];
    faults: number;
    answers: { p50Ms: number; p95Ms: number; maxMs: number } | null;
    endedBy: string | null;
  } | null;
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
