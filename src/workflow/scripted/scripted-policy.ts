// The agent without a language model: it says what the author wrote and understands only what was
// expected. Nothing is interpreted and nothing invented; what is not certain is asked again.
// understanding.ts reads a turn, confirmation.ts asks yes or no, traversal.ts goes on; this file joins them.

import type { Policy } from '../engine/policy.ts';
import { currentNode, say } from '../engine/step.ts';
import { confirmTurn } from './confirmation.ts';
import { alwaysEdge, arriveAtStart, go, miss, questionNow } from './traversal.ts';
import { takeTurn } from './understanding.ts';

export const scriptedPolicy: Policy = {
  open(step, greeting) {
    arriveAtStart(step, greeting);
  },

  callerTurn(step, turn) {
    if (turn.text.trim() === '') miss(step);
    else if (step.state.scripted.confirming !== null) confirmTurn(step, turn);
    else takeTurn(step, turn);
  },

  heard(step, utteranceId) {
    if (step.state.scripted.goOnAfter !== utteranceId) return;
    const edge = alwaysEdge(currentNode(step));
    if (edge !== undefined) go(step, edge);
  },

  nudge(step) {
    const text = `${step.lines.areYouThere} ${questionNow(step)}`;
    say(step, { kind: 'idle', text, interruptible: true });
  },

  farewell(step) {
    say(step, { kind: 'goodbye', text: step.lines.goodbye, interruptible: false });
  },
};
