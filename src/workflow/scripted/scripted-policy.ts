// The scripted policy: an agent without a language model, which says the author's words and understands only expected
// input. Uncertain input is asked for again. understanding.ts interprets a turn, confirmation.ts asks yes or no,
// traversal.ts moves on; this file joins them.

import { greetingOf } from '../engine/clip-lines.ts';
import type { DialoguePolicyHandler } from '../engine/policy.ts';
import { sayAgainTo } from '../engine/resuming.ts';
import { currentNode, say } from '../engine/step.ts';
import { asksToWait, bePatient, promiseToWait } from '../engine/waiting.ts';
import { confirmTurn } from './confirmation.ts';
import {
  alwaysEdge,
  arriveAtStart,
  goToNode,
  handleNoMatch,
  hasQuestion,
  questionNow,
  readMenu,
  waitForInput,
} from './traversal.ts';
import { handleCallerTurn, isOwnPhrase } from './understanding.ts';

export const scriptedPolicy: DialoguePolicyHandler = {
  start(step, greeting) {
    arriveAtStart(step, greeting);
  },

  takeOver(step) {
    // A start node without words of its own has only its greeting to say.
    arriveAtStart(step, hasQuestion(step) ? undefined : greetingOf(step, { isOverridable: false }));
  },

  callerTurn(step, turn) {
    if (turn.text.trim() === '') handleNoMatch(step);
    else if (asksToWait(step, turn) && !isOwnPhrase(step, turn.text)) {
      bePatient(step);
      promiseToWait(step);
    } else if (step.state.scripted.confirming !== null) confirmTurn(step, turn);
    else handleCallerTurn(step, turn);
  },

  heard(step, utteranceId) {
    if (step.state.scripted.goOnAfter !== utteranceId) return;
    const edge = alwaysEdge(currentNode(step));
    if (edge !== undefined) goToNode(step, edge);
  },

  offerKeys(step) {
    readMenu(step, step.lines.keysOnly);
  },

  resume(step, lost) {
    const { scripted } = step.state;
    const utteranceId = sayAgainTo(step, lost, questionNow(step));
    if (scripted.goOnAfter !== null) scripted.goOnAfter = utteranceId;
    waitForInput(step);
  },

  askIfPresent(step) {
    const text = `${step.lines.areYouThere} ${questionNow(step)}`;
    say(step, { kind: 'idle', text, interruptible: true });
  },

  sayGoodbye(step) {
    say(step, { kind: 'goodbye', text: step.lines.goodbye, interruptible: true });
  },
};
