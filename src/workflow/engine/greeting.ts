// What the agent opens with: an override from the call's context, else the author's clip, else the author's
// text. Source: contract §5.6, §8.1.

import { isObject } from '../../std/json.ts';
import { clipLine } from './clip-lines.ts';
import { overrideClip, type SpokenLine } from './clip-refs.ts';
import { rendered, type Step } from './step.ts';

/** An override of a wrong shape is ignored, and so is a clip that is not there. */
export function greetingOf(step: Step): SpokenLine | undefined {
  const override = step.state.initialContext['greeting_override'];
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
  return text === '' ? undefined : { text };
}
