// Along an edge that a model has chosen, and on from there: a move that already asked something, or that
// ends the call, needs no second response; one that made a statement goes on at once under the new
// prompt; a silent one speaks from there. Source: contract §8.3.

import { hasTransitionLine } from '../engine/clip-lines.ts';
import { close } from '../engine/ending.ts';
import { follow } from '../engine/node-transition.ts';
import type { Step } from '../engine/step.ts';
import type { GraphEdge } from '../graph/graph.ts';
import { generate, listen } from './llm-policy.ts';

/** Question marks of the scripts that agents are written in. */
const QUESTION = /[?\uff1f\u061f\u037e]/;

/** `spoken` is what the model said before it moved. Sees to it that the new node speaks, if it has not
 *  done so already. */
export function arrive(step: Step, edge: GraphEdge, spoken: string): void {
  const node = follow(step, edge);
  listen(step);
  const said = spoken.trim() !== '';
  if (node.type === 'endCall') {
    if (!said) generate(step, { purpose: 'closing', kind: 'goodbye' });
    close(step, 'user_qualified');
    return;
  }
  // The line between stands after what was said: the question before it would be lost.
  const asked = said && QUESTION.test(spoken) && !hasTransitionLine(step, edge);
  if (!asked) generate(step, { purpose: 'reply', kind: 'reply' });
}
