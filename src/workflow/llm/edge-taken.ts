// Along an edge that a model has chosen, and on from there: a move that already asked something, or that
// ends the call, needs no second response; one that made a statement goes on at once under the new
// prompt; a silent one speaks from there. Source: contract §8.3.

import { hasTransitionLine } from '../engine/clip-lines.ts';
import { startClosing } from '../engine/ending.ts';
import { followEdge } from '../engine/node-transition.ts';
import type { Step } from '../engine/step.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { generate, waitForCaller } from './llm-policy.ts';

/** Question marks of the scripts that agents are written in. */
const QUESTION = /[?\uff1f\u061f\u037e]/;

/** `spoken` is what the model said before it moved. Sees to it that the new node speaks, if it has not
 *  done so already. */
export function continueAfterEdge(step: Step, edge: GraphEdge, spoken: string): void {
  const node = followEdge(step, edge);
  waitForCaller(step);
  const said = spoken.trim() !== '';
  if (node.endsCall) {
    if (!said) generate(step, { purpose: 'closing', kind: 'goodbye' });
    startClosing(step, 'user_qualified');
    return;
  }
  // The line between stands after what was said: the question before it would be lost.
  const asked = said && QUESTION.test(spoken) && !hasTransitionLine(step, edge);
  if (!asked) generate(step, { purpose: 'reply', kind: 'reply' });
}
