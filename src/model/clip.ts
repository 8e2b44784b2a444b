// A clip: speech recorded beforehand, which an agent plays in place of synthesized words. On the wire it is
// a "recording" of the library (contract §10.3); a recording is, to us, what was taken down of a call.

export interface Clip {
  id: string;
  organizationId: string;
  /** Null: for every agent of the organization. */
  workflowId: string | null;
  userId: string | null;
  /** `recording_id` on the wire: unique among the organization's clips that are not deleted. */
  name: string;
  /** What is said in it. */
  transcript: string;
  storageKey: string;
  ttsProvider: string | null;
  ttsModel: string | null;
  ttsVoiceId: string | null;
  metadata: Record<string, unknown>;
  isActive: boolean;
  createdAt: Date;
}

/** How a workflow names a clip: a start node by the row's id, everything else by name (contract §5.3). */
export type ClipRef = { by: 'id' | 'name'; value: string };
