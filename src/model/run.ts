// A run: the stored record of one call.

import type { Direction } from './provider.ts';

/** State of a run. It only moves forward; `completed` is final. */
export type RunState = 'initialized' | 'running' | 'completed';

/** A run's files, by their name in URLs. */
export const ARTIFACTS = ['recording', 'transcript', 'user_recording', 'bot_recording'] as const;
export type Artifact = (typeof ARTIFACTS)[number];

export interface Run {
  id: string;
  organizationId: string;
  workflowId: string;
  definitionId: string;
  /** Set for a call of a campaign. */
  campaignId: string | null;
  name: string;
  /** Name of the provider of a phone call. */
  mode: string;
  callType: Direction;
  state: RunState;
  /** Telephony configuration of a phone call, which may be deleted. */
  configurationId: string | null;
  /** Call id of the provider, once known. */
  providerCallId: string | null;
  initialContext: Record<string, unknown>;
  gatheredContext: Record<string, unknown>;
  usageInfo: Record<string, unknown> | null;
  costInfo: Record<string, unknown> | null;
  logs: Record<string, unknown>;
  annotations: Record<string, unknown>;
  /** Result of the call, in the contract's words; null while it runs. */
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
