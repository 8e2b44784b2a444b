// Words of low recognition confidence, with a model: a few of them are confirmed with the caller, others are asked for
// again, never twice with the same line. The model only gets confirmed words.

import { trustIn, type WordTrust } from '../../model/word-trust.ts';
import { wordCount } from '../../std/text/unspaced-text.ts';
import { fillLine } from '../engine/dialogue-lines.ts';
import { startClosing } from '../engine/ending.ts';
import type { CallerTurnEvent } from '../engine/policy.ts';
import { currentNode, type Step, say } from '../engine/step.ts';
import { nodeExpectation } from '../scripted/node-grammar.ts';
import { parseYesNo } from '../slots/yes-no.ts';

/** Most words that the caller is asked to confirm. */
const DOUBTED_WORDS_MAX = 8;
/** Consecutive turns after which the agent asks again. After one more the call ends. */
const MISHEARD_MAX = 6;
/** Number of the consecutive failure from which the caller is not asked about doubtful words any more. */
const OTHERWISE_FROM = 2;

/** A turn of low confidence, and the question that it may answer. */
interface Doubtful {
  text: string;
  trust: WordTrust;
  /** Words that the caller was asked to confirm. */
  doubted: string | undefined;
  /** Yes or no to that question; undefined for another answer. */
  answer: boolean | undefined;
  /** Whether the answer counts. */
  isAnswered: boolean;
}

/** Whether the words count. If not, the caller is asked. */
export function believes(step: Step, turn: CallerTurnEvent): boolean {
  const { state } = step;
  const { doubted, doubtedAnswer } = state;
  delete state.doubted;
  delete state.doubtedAnswer;
  const trust = turn.source === 'speech' ? trustIn(turn.confidence) : 'accept';
  const text = turn.text.trim();
  const answer = doubted === undefined ? undefined : parseYesNo(text);
  // A doubtful answer counts, and one that is hardly recognised the second time.
  const isAnswered = answer !== undefined && (trust !== 'reject' || answer === doubtedAnswer);
  if (answer !== false && (isAnswered || (trust === 'accept' && text !== ''))) {
    delete state.misheard;
    return true;
  }
  ask(step, { text, trust, doubted, answer, isAnswered });
  return false;
}

function ask(step: Step, { text, trust, doubted, answer, isAnswered }: Doubtful): void {
  const { state } = step;
  const question = isAnswered ? undefined : questionable(text, trust);
  // The first question about doubtful words is no failure yet.
  if (question === undefined || doubted !== undefined) {
    state.misheard = (state.misheard ?? 0) + 1;
  }
  const isLate = (state.misheard ?? 0) >= OTHERWISE_FROM;
  if (answer !== undefined && !isAnswered && !isLate) askAbout(step, doubted ?? text, answer);
  else if (question !== undefined && !isLate) askAbout(step, question);
  else askAgain(step);
}

/** The words that the caller can be asked to confirm; undefined if there are none. */
function questionable(text: string, trust: WordTrust): string | undefined {
  const isShort = text !== '' && wordCount(text) <= DOUBTED_WORDS_MAX;
  return isShort && trust === 'confirm' ? text : undefined;
}

/** Asks the caller to confirm `text`. `answer`: a doubtful answer to the same question. */
function askAbout(step: Step, text: string, answer?: boolean): void {
  const { state, lines } = step;
  state.doubted = text;
  if (answer !== undefined) state.doubtedAnswer = answer;
  const { interruptible } = currentNode(step);
  say(step, { kind: 'reprompt', text: fillLine(lines.confirm, { value: text }), interruptible });
}

function askAgain(step: Step): void {
  const { state, lines } = step;
  const misheard = state.misheard ?? 1;
  if (misheard > MISHEARD_MAX) {
    say(step, { kind: 'goodbye', text: lines.givingUp, interruptible: true });
    startClosing(step, 'unknown', { isWithdrawable: true });
    return;
  }
  const otherwise = takesKeys(step) ? lines.sayOtherwiseOrKeys : lines.sayOtherwise;
  const texts = [lines.sayAgain, otherwise, lines.speakClearly];
  const text = texts[(misheard - 1) % texts.length] ?? lines.sayAgain;
  const { interruptible } = currentNode(step);
  say(step, { kind: 'fallback', text, interruptible });
}

/** Whether the author expects keys in the current node. */
function takesKeys(step: Step): boolean {
  const node = currentNode(step);
  return nodeExpectation(step, node, node.slots).digits !== undefined;
}
