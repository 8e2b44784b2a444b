// Runs, their lists and event logs as the rest of the gateway sees them.

import type { CallEvent } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import type { NewRun, StartedRun } from './new-run.ts';
import type { ActiveCall, EventCursor, FollowedRun, RunPage, RunScope } from './run-filters.ts';
import type { RunOwner } from './run-owners.ts';

/** Contexts, logs and annotations are merged by top-level key; every other field replaces. */
export interface RunPatch {
  state?: Run['state'];
  providerCallId?: string;
  initialContext?: Record<string, unknown>;
  gatheredContext?: Record<string, unknown>;
  logs?: Record<string, unknown>;
  annotations?: Record<string, unknown>;
  usageInfo?: Record<string, unknown>;
  costInfo?: Record<string, unknown>;
  disposition?: string;
  durationS?: number;
  recordingKey?: string;
  transcriptKey?: string;
  startedAt?: Date;
  endedAt?: Date;
}

export interface RunStore {
  /** Throws CALL_LIMIT_REACHED if the organization already has `limit` runs that are not completed; the
   *  default is its own limit. A provider's call that has a run already gets that run, however many ask at
   *  once. */
  create(input: NewRun, limit?: number): Promise<StartedRun>;
  get(organizationId: string, id: string): Promise<Run | undefined>;
  /** For webhooks, which know no organization. */
  find(id: string): Promise<Run | undefined>;
  findByProviderCall(configurationId: string, callId: string): Promise<Run | undefined>;
  /** Logs come with runs that are not completed. */
  list(scope: RunScope, page: RunPage): Promise<{ runs: Run[]; total: number }>;
  /** A completed run keeps its state, disposition, duration and end. */
  patch(id: string, patch: RunPatch): Promise<Run | undefined>;
  /** Patches a run that is `initialized`. False, and nothing is changed, if there is none of that id. */
  patchInitialized(id: string, patch: RunPatch): Promise<boolean>;
  /** Appends one provider callback to `logs.telephony_status_callbacks`; false if `dedupeKey` was
   *  seen before. Atomic. */
  appendCallback(id: string, dedupeKey: string, entry: Record<string, unknown>): Promise<boolean>;
  /** The run's public token, which works for a month from now at most and for four weeks at least. */
  publicToken(id: string): Promise<string>;
  /** Those of many runs, by run. An id that is no run's is left out. */
  publicTokens(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  findByToken(token: string): Promise<Run | undefined>;
  /** Runs that a process left open: not completed, and of a node that is dead or, in the next process of that
   *  name, lives on. They are this process's from then on. */
  openRuns(): Promise<Run[]>;
  /** Undefined if there is no such run. */
  owner(id: string): Promise<RunOwner | undefined>;
  /** A call that has no media yet is this node's from now on, whichever placed it. */
  adopt(id: string): Promise<void>;
  /** Calls that ring or talk, of all nodes, newest first. */
  activeCalls(
    organizationId: string,
    page: { limit: number; offset: number },
  ): Promise<{ calls: ActiveCall[]; total: number }>;
  /** Runs that have a call and are not completed, of all organizations and nodes. */
  countOpen(): Promise<number>;
  appendEvents(events: readonly CallEvent[]): Promise<void>;
  events(runId: string): Promise<CallEvent[]>;
  /** What lies behind each cursor, by run and in order; at most `limit` events of each run. */
  eventsAfter(cursors: readonly EventCursor[], limit: number): Promise<CallEvent[]>;
  /** The runs of `known`, those that have a call, and those that are newer than `afterId`; by age, at
   *  most two hundred of each. */
  toFollow(
    organizationId: string,
    which: { known: readonly string[]; afterId: string },
  ): Promise<FollowedRun[]>;
  /** `0` if the organization has none. */
  newestId(organizationId: string): Promise<string>;
}
