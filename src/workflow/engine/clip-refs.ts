// Recorded clips as a definition and a call's context name them. Source: contract §5.3, §5.6.

import type { ClipRef } from '../../model/clip.ts';
import type { WorkflowDefinition } from '../../model/workflow.ts';
import { isObject } from '../../std/json.ts';

/** A definition of thousands of edges must not make a call load them all. */
const REFS_MAX = 200;

/** The clip of that name, if the organization has it. */
export type FindClip = (ref: ClipRef) => { id: string; transcript: string } | undefined;

export const NO_CLIPS: FindClip = () => undefined;

/** What is said: a text, or a clip of which it is the transcript. */
export interface SpokenLine {
  text: string;
  clipId?: string;
}

/** Every clip that a call on this definition may play, as far as the definition and the call's context
 *  name them. Anything that has not the contract's shape names none. */
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

/** The clip of `greeting_override`, if it is of that shape (contract §5.6). */
export function overrideClip(override: unknown): ClipRef | undefined {
  if (!isObject(override) || override['type'] !== 'audio') return undefined;
  return parseClipRef('name', override['recording_id']);
}

export function parseClipRef(by: ClipRef['by'], value: unknown): ClipRef | undefined {
  return typeof value === 'string' && value !== '' ? { by, value } : undefined;
}
