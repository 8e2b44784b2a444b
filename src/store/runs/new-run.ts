// The data of a new run, and the result of its creation.

import type { Direction } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';

export interface NewRun {
  organizationId: string;
  workflowId: string;
  definitionId: string;
  name: string;
  mode: string;
  callType: Direction;
  /** Null while the route of the call is unknown. */
  configurationId: string | null;
  /** Set for a campaign's call. */
  campaignId?: string;
  providerCallId: string | null;
  /** The last run of the same call, whose next leg this is. Default: a call with a run gets no other. */
  follows?: string | undefined;
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
  logs: Record<string, unknown>;
}

export interface StartedRun {
  run: Run;
  /** False if a request with the same key, or the same call, created the run before. */
  isNew: boolean;
}
