// Lines that may be recorded clips. The engine knows what is said in a clip, its sound is the session's
// business. A clip that is not there gives way to the author's text, and the run's log tells.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ClipRef } from '../../model/clip.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { parseClipRef, type SpokenLine } from './clip-refs.ts';
import { log, rendered, type Step } from './step.ts';

/** The clip as a line to say. Undefined, and a fault in the run's log, if it is not there. */
export function clipLine(step: Step, ref: ClipRef): SpokenLine | undefined {
  const clip = step.clips(ref);
  if (clip !== undefined) return { text: clip.transcript, clipId: clip.id };
  const { code, message } = new GatewayError('CLIP_MISSING', { name: ref.value });
  log(step, { type: 'fault', code, message, fatal: false });
  return undefined;
}

/** Whether something is said on the way along the edge. */
export function hasTransitionLine(step: Pick<Step, 'clips'>, edge: GraphEdge): boolean {
  const ref = transitionClip(edge);
  const isClip = ref !== undefined && step.clips(ref) !== undefined;
  return isClip || (edge.transition_speech ?? '').trim() !== '';
}

/** What is said on the way along the edge; the text in place of a clip that is not there. */
export function transitionLine(step: Step, edge: GraphEdge): SpokenLine {
  const ref = transitionClip(edge);
  const clip = ref === undefined ? undefined : clipLine(step, ref);
  return clip ?? { text: rendered(step, edge.transition_speech ?? '') };
}

function transitionClip(edge: GraphEdge): ClipRef | undefined {
  if (edge.transition_speech_type !== 'audio') return undefined;
  return parseClipRef('name', edge.transition_speech_recording_id);
}
