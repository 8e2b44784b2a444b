// Clips as the rest of the gateway sees them. Deleted ones are there for nobody.

import type { Clip, ClipRef } from '../../model/clip.ts';

export type NewClip = Pick<
  Clip,
  'name' | 'transcript' | 'storageKey' | 'ttsProvider' | 'ttsModel' | 'ttsVoiceId' | 'metadata'
> & { workflowId: string | null };

export interface ClipFilter {
  /** The clips of that agent, and those for every agent. */
  workflowId?: string;
  ttsProvider?: string;
  ttsModel?: string;
  ttsVoiceId?: string;
}

export interface ClipStore {
  /** All of them or none. Throws CLIP_NAME_TAKEN, WORKFLOW_NOT_FOUND. */
  create(
    owner: { organizationId: string; userId: string },
    clips: readonly NewClip[],
  ): Promise<Clip[]>;
  /** Newest first. */
  list(
    organizationId: string,
    filter: ClipFilter,
    page: { limit: number; offset: number },
  ): Promise<{ clips: Clip[]; total: number }>;
  /** Those that are there, in no order. */
  find(organizationId: string, refs: readonly ClipRef[]): Promise<Clip[]>;
  /** Throws CLIP_NAME_TAKEN. */
  rename(organizationId: string, id: string, name: string): Promise<Clip | undefined>;
  /** False if there is none of that name. */
  remove(organizationId: string, name: string): Promise<boolean>;
}
