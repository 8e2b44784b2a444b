// The data of a new run, and the result of its creation.

import type { Run, RunFieldWith } from '../../model/run.ts';

/** The given fields of a new run. The configuration is null while the route of the call is unknown. */
export interface NewRun extends Omit<Pick<Run, RunFieldWith<{ first: 'given' }>>, 'campaignId'> {
  /** Set for a campaign's call. */
  campaignId?: string;
  /** The last run of the same call, whose next leg this is. Default: a call with a run gets no other. */
  follows?: string | undefined;
}

export interface StartedRun {
  run: Run;
  /** False if a request with the same key, or the same call, created the run before. */
  isNew: boolean;
}
