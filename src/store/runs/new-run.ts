// What a run is made of.

import type { Direction } from '../../model/provider.ts';

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
