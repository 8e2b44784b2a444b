// A run: the stored record of one call.

import type { Direction } from './provider.ts';

/** Moves forward only; `completed` is never left. */
export type RunState = 'initialized' | 'running' | 'completed';

/** A run's files, by their name in URLs. */
export const ARTIFACTS = ['recording', 'transcript', 'user_recording', 'bot_recording'] as const;
export type Artifact = (typeof ARTIFACTS)[number];

export interface Run {
  id: string;
  organizationId: string;
  workflowId: string;
  definitionId: string;
  /** For a call of a campaign. */
  campaignId: string | null;
  name: string;
  /** The provider's name for a phone call. */
  mode: string;
  callType: Direction;
  state: RunState;
  /** Of a phone call; it may be deleted by now. */
  configurationId: string | null;
  /** The provider's id of the call, once known. */
  providerCallId: string | null;
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
  usageInfo: Record<string, unknown> | null;
  costInfo: Record<string, unknown> | null;
  logs: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** How the call ended, in the contract's words; null while it runs. */
  disposition: string | null;
  durationS: number | null;
  /** Storage keys; null until there is a file. */
  recordingKey: string | null;
  transcriptKey: string | null;
  publicAccessToken: string | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
}
