// Lines that may be recorded clips: the greeting (an override from the call's context, else the author's clip, else the
// author's text), and the line of an edge. The engine has a clip's transcript, the session plays it. If a clip is
// missing, its text is spoken and the run's log has the fault. Source: contract §5.6, §8.1.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ClipRef } from '../../model/clip.ts';
import { isObject } from '../../std/json.ts';
import { isSayable } from '../../std/text/sayable.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { overrideClip, parseClipRef, type SpokenLine } from './clip-refs.ts';
import { log, rendered, type Step } from './step.ts';

/** The clip as a line to say. Undefined, with a fault in the run's log, if the clip is missing. */
export function clipLine(step: Step, ref: ClipRef): SpokenLine | undefined {
  const clip = step.clips(ref);
  if (clip !== undefined) return { text: clip.transcript, clipId: clip.id };
  const { code, message } = new GatewayError('CLIP_MISSING', { name: ref.value });
  log(step, { type: 'fault', code, message, fatal: false });
  return undefined;
}

/** Whether the edge has a line. */
export function hasTransitionLine(step: Pick<Step, 'clips'>, edge: GraphEdge): boolean {
  const ref = transitionClip(edge);
  const isClip = ref !== undefined && step.clips(ref) !== undefined;
  return isClip || (edge.transition_speech ?? '').trim() !== '';
}

/** The line of the edge; its text if the clip is missing. */
export function transitionLine(step: Step, edge: GraphEdge): SpokenLine {
  const ref = transitionClip(edge);
  const clip = ref === undefined ? undefined : clipLine(step, ref);
  return clip ?? { text: rendered(step, edge.transition_speech ?? '') };
}

function transitionClip(edge: GraphEdge): ClipRef | undefined {
  if (edge.transition_speech_type !== 'audio') return undefined;
  return parseClipRef('name', edge.transition_speech_recording_id);
}

/** The greeting; undefined if there is none. An override of a wrong shape, and a missing clip, are ignored.
 *  `isOverridable`: whether the call's context may have another one. */
export function greetingOf(
  step: Step,
  { isOverridable = true }: { isOverridable?: boolean } = {},
): SpokenLine | undefined {
  const override = isOverridable ? step.state.initialContext['greeting_override'] : undefined;
  const { opening } = step.graph;
  return (
    textLine(step, overrideText(override)) ??
    lineOf(step, overrideClip(override)) ??
    lineOf(step, opening.clip) ??
    textLine(step, opening.greeting)
  );
}

function overrideText(override: unknown): string | undefined {
  if (!isObject(override) || override['type'] !== 'text') return undefined;
  const { text } = override;
  return typeof text === 'string' ? text : undefined;
}

function lineOf(
  step: Step,
  ref: Parameters<typeof clipLine>[1] | undefined,
): SpokenLine | undefined {
  return ref === undefined ? undefined : clipLine(step, ref);
}

function textLine(step: Step, template: string | undefined): SpokenLine | undefined {
  const text = template === undefined ? '' : rendered(step, template).trim();
  return isSayable(text) ? { text } : undefined;
}
