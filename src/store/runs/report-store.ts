// What reports ask of the stored runs: rows of a table of calls, sums, and a day's distributions. The
// statements are in reports.ts. Source: contract §9.11.

import type { RunFilter, RunScope } from './run-filters.ts';

/** One completed call, as a report shows it. */
export interface ReportRow {
  id: string;
  campaignId: string | null;
  workflowId: string;
  definitionId: string;
  createdAt: Date;
  /** Of the one who was called or has called. */
  phoneNumber: string | null;
  disposition: string | null;
  durationS: number;
  /** By the name of the variable. */
  extracted: Record<string, unknown>;
  tags: string[];
  hasTranscript: boolean;
  hasRecording: boolean;
}

export interface UsageSums {
  calls: number;
  durationS: number;
  /** Of language models. */
  tokens: number;
}

/** From `from` on, before `to`. */
export interface Span {
  from: Date;
  to: Date;
}

export interface DayOfCalls {
  calls: number;
  /** Most frequent first. */
  dispositions: { disposition: string; calls: number }[];
  /** Calls in each range of length; see `LENGTHS_S`. */
  lengths: number[];
}

/** Upper ends of the ranges of length, seconds; the last range has none. */
export const LENGTHS_S = [10, 30, 60, 120, 180] as const;

export interface ReportStore {
  /** Completed runs that have a length, newest first, from after `after` on: a page of them, empty at
   *  the end. */
  rows(scope: RunScope, filter: RunFilter, after: ReportRow | undefined): Promise<ReportRow[]>;
  /** Names of the variables that were extracted in those runs, sorted; at most two hundred. */
  variables(scope: RunScope, filter: RunFilter): Promise<string[]>;
  /** Of every run that matches. */
  sums(scope: RunScope, filter: RunFilter): Promise<UsageSums>;
  /** For each of `spans`, which follow one another. */
  sumsBySpan(scope: RunScope, spans: readonly Span[]): Promise<UsageSums[]>;
  /** Of the completed runs that began in `span`. */
  day(scope: RunScope, span: Span): Promise<DayOfCalls>;
  /** Names of agents, by id; an id of another organization is left out. */
  workflowNames(
    organizationId: string,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, string>>;
}
