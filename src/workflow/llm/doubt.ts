// Words that the recogniser is not sure of, with a model: the caller is asked about a few of them, and asked again for the
// rest. The model answers only what is believed.

import { trustIn } from '../../model/word-trust.ts';
import { fillLine } from '../engine/default-lines.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import { currentNode, type Step, say } from '../engine/step.ts';
import { parseYesNo } from '../slots/yes-no.ts';

/** More words are not repeated to the caller. */
const DOUBTED_WORDS_MAX = 8;
/** Consecutive turns that are answered by asking again: a noise must not be answered for ever. */
const MISHEARD_MAX = 6;

/** Whether the words count. If not, the caller is asked. */
export function believes(step: Step, turn: CallerTurnEvent): boolean {
  const { state } = step;
  const isDoubted = state.doubted !== undefined;
  delete state.doubted;
  const trust = turn.source === 'speech' ? trustIn(turn.confidence) : 'accept';
  const text = turn.text.trim();
  if (text === '' || trust === 'reject') {
    askAgain(step);
    return false;
  }
  const answer = isDoubted ? parseYesNo(text) : undefined;
  if (answer === false) {
    askAgain(step);
    return false;
  }
  if (answer === true || trust === 'accept') {
    delete state.misheard;
    return true;
  }
  if (text.split(/\s+/).length > DOUBTED_WORDS_MAX) askAgain(step);
  else askAbout(step, text);
  return false;
}

function askAbout(step: Step, text: string): void {
  step.state.doubted = text;
  const { interruptible } = currentNode(step);
  say(step, {
    kind: 'reprompt',
    text: fillLine(step.lines.confirm, { value: text }),
    interruptible,
  });
}

function askAgain(step: Step): void {
  const { state, lines } = step;
  state.misheard = (state.misheard ?? 0) + 1;
  if (state.misheard > MISHEARD_MAX) return;
  const text = state.misheard === 1 ? lines.sayAgain : lines.sayOtherwise;
  const { interruptible } = currentNode(step);
  say(step, { kind: 'fallback', text, interruptible });
}
