// Digits that only tools may get: while the caller enters them, what is written down of the caller's keys and words has
// none of them. The engine gets the keys themselves; the run's log has in their place whether they count.

import type { DigitsVerdict } from '../../model/engine-input.ts';
import { LANGUAGES } from '../../model/languages/languages.ts';
import { judgeDigits } from '../tools/digit-check.ts';
import type { DialogueEvent } from './dialogue-events.ts';
import { addCallerText } from './history.ts';
import type { DialogueState, PendingDigits } from './state.ts';

/** Stands for a hidden digit, or for words with digits. */
export const HIDDEN = '•';

/** Digits in words from which they may be a part of the number. */
const SPOKEN_DIGITS_MIN = 2;

const DIGIT_WORDS: ReadonlySet<string> = new Set(
  [...LANGUAGES.values()].flatMap(({ endpointing }) => endpointing?.digits ?? []),
);

/** The digits that the caller is to enter now; undefined if there are none. */
export function collectionIn({ tools }: Pick<DialogueState, 'tools'>): PendingDigits | undefined {
  const next = tools?.next;
  return next?.what === 'digits' && next.stage !== 'waiting' ? next : undefined;
}

/** Whether the caller enters digits that must be hidden. */
export function hidesDigits(state: Pick<DialogueState, 'tools'>): boolean {
  return collectionIn(state)?.collection.isHidden === true;
}

/** The keys with none of them readable. */
export function hiddenKeys(keys: string): string {
  return HIDDEN.repeat(keys.length);
}

/** The words; a mark in place of words that may have digits of the number. */
export function hiddenWords(text: string): string {
  const figures = text.match(/\p{Nd}/gu)?.length ?? 0;
  const words = text
    .toLowerCase()
    .split(/[^\p{L}\p{M}]+/u)
    .filter((word) => DIGIT_WORDS.has(word)).length;
  return figures + words >= SPOKEN_DIGITS_MIN ? HIDDEN : text;
}

/** Whether hidden keys count, for the run's log; undefined if the event has none. */
export function hiddenVerdict(
  before: DialogueState,
  event: DialogueEvent,
): DigitsVerdict | undefined {
  const { collection } = collectionIn(before) ?? {};
  if (collection?.isHidden !== true) return undefined;
  if (event.type !== 'caller-turn' || event.source !== 'dtmf') return undefined;
  return judgeDigits(collection.rules, event.text.trim(), event.at);
}

/** Tells the model which hidden digits a lost process has taken with it. */
export function noteLostDigits(state: DialogueState): void {
  const { hiddenDigits = {} } = state;
  const lost = Object.keys(hiddenDigits).filter((name) => hiddenDigits[name] === '');
  if (lost.length === 0) return;
  for (const name of lost) delete hiddenDigits[name];
  const names = lost.map((name) => `hidden_digits.${name}`).join(', ');
  addCallerText(state, `(The line was interrupted, and ${names} is lost: have it entered again.)`);
}
