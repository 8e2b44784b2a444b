// References to recorded clips in a definition and in a call's context. Source: contract §5.3, §5.6.

import type { ClipRef } from '../../model/clip.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';

/** Clips of one call: a definition of thousands of edges must not make it load thousands of clips. */
const REFS_MAX = 200;

/** The clip of that name, if the organization has it. */
export type FindClip = (ref: ClipRef) => { id: string; transcript: string } | undefined;

export const NO_CLIPS: FindClip = () => undefined;

/** A text, or a clip with its transcript. */
export interface SpokenLine {
  text: string;
  clipId?: string;
}

/** Every clip that a call of this definition may play, as referenced by the definition and the call's context.
 *  Values that do not have the contract's shape are ignored. */
export function clipRefsOf(
  definition: WorkflowDefinition,
  initialContext: Record<string, unknown>,
): ClipRef[] {
  const refs = [
    overrideClip(initialContext['greeting_override']),
    ...definition.nodes.map(({ data }) =>
      data['greeting_type'] === 'audio'
        ? parseClipRef('id', data['greeting_recording_id'])
        : undefined,
    ),
    ...definition.edges.map(({ data }) =>
      data['transition_speech_type'] === 'audio'
        ? parseClipRef('name', data['transition_speech_recording_id'])
        : undefined,
    ),
  ];
  return refs.filter((ref) => ref !== undefined).slice(0, REFS_MAX);
}

/** The clip of `greeting_override`, if it has that shape (contract §5.6). */
export function overrideClip(override: unknown): ClipRef | undefined {
  if (!isObject(override) || override['type'] !== 'audio') return undefined;
  return parseClipRef('name', override['recording_id']);
}

export function parseClipRef(by: ClipRef['by'], value: unknown): ClipRef | undefined {
  return typeof value === 'string' && value !== '' ? { by, value } : undefined;
}
