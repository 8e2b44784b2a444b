// What a run is created from, and what comes of it.

import type { Direction } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';

export interface NewRun {
  organizationId: string;
  workflowId: string;
  definitionId: string;
  name: string;
  mode: string;
  callType: Direction;
  /** Null while nobody knows over what it will go. */
  configurationId: string | null;
  /** Of a campaign's call. */
  campaignId?: string;
  providerCallId: string | null;
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
  logs: Record<string, unknown>;
}

export interface StartedRun {
  run: Run;
  /** False if it was begun before, by a request with the same key or by the same call. */
  isNew: boolean;
}
