// A clip: recorded speech that an agent plays in place of synthesized words. The API calls it a "recording" of the
// library (contract §10.3); in the code, a recording is the recorded audio of a call.

export interface Clip {
  id: string;
  organizationId: string;
  /** The agent with the clip; null: every agent of the organization. */
  workflowId: string | null;
  userId: string | null;
  /** `recording_id` on the wire: unique among the organization's clips that are not deleted. */
  name: string;
  /** Words of the clip. */
  transcript: string;
  storageKey: string;
  ttsProvider: string | null;
  ttsModel: string | null;
  ttsVoiceId: string | null;
  metadata: Record<string, unknown>;
  isActive: boolean;
  createdAt: Date;
}

/** Reference of a workflow to a clip: start nodes use the row's id, everything else the name (contract §5.3). */
export type ClipRef = { by: 'id' | 'name'; value: string };
