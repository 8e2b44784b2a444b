// What may be asked of the stored runs: whose, which of them, in which order, how many. The statements
// are in run-list.ts. Source: contract §6.2.

import type { Direction } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';

/** Whose runs: an organization's, or those of one agent or one campaign of it. */
export interface RunScope {
  organizationId: string;
  workflowId?: string;
  campaignId?: string;
}

/** A run matches if it meets every condition that is there. */
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
  /** The process that runs the call, as `nodes` names it. */
  node: string;
}

/** How far a run's log has been read. */
export interface EventCursor {
  runId: string;
  /** Of the last event; 0 before the first. */
  seq: number;
}

/** A run as those who follow an organization's calls need it. */
export interface FollowedRun {
  id: string;
  workflowId: string;
  name: string;
  mode: string;
  callType: Direction;
  isCompleted: boolean;
  disposition: string | null;
}
