// Questions of the agent in what the caller has heard of an utterance.

import type { Utterance } from '../speak/utterance.ts';
import { wordsOf } from './endpointing.ts';

/** Words of the agent behind a question until which the caller's "yes" is taken to answer it: about four seconds. */
const ANSWERED_WITHIN_WORDS = 12;
/** Words of a question that a caller does not wait for. */
const ANTICIPATED_WORDS = 2;

/** Latin, full-width, Arabic. */
const MARK = /[?？؟]/;

/** Number of questions in the text. */
export function questionsIn(text: string): number {
  return text.split(MARK).length - 1;
}

/** Whether the caller has heard a question of this utterance. */
export function hasAsked(utterance: Pick<Utterance, 'heardText'>): boolean {
  return MARK.test(utterance.heardText());
}

/** Whether the caller has just heard a question of this utterance. */
export function hasJustAsked(utterance: Pick<Utterance, 'heardText'>): boolean {
  const [behind = '', ...before] = utterance.heardText().split(MARK).reverse();
  return before.length > 0 && wordsOf(behind).length <= ANSWERED_WITHIN_WORDS;
}

/** Whether the caller has heard nearly all of a question. */
export function isAsking(utterance: Pick<Utterance, 'heardText' | 'unheardText'>): boolean {
  const [begun = ''] = utterance.heardText().split(MARK).slice(-1);
  const [rest = '', ...more] = utterance.unheardText().split(MARK);
  return begun.trim() !== '' && more.length > 0 && wordsOf(rest).length <= ANTICIPATED_WORDS;
}
