// Endpointing: how long the caller must be silent before their turn is over, by their words and the expected input.
// Words in, milliseconds out: no clock, no audio.

import type { ExpectedInput, SlotType } from '../../model/expected-input.ts';
import type { CallerWords, TurnJudge } from './turn-judge.ts';

/** A complete answer to a closed question. */
const COMPLETE_MS = 270;
/** The agent is held because of a sound: a short wait decides soon whether it was an interruption. */
const HURRIED_MS = 300;
/** An answer that is complete, and also the beginning of a longer one. */
const AMBIGUOUS_MS = 450;
/** Closed question, nothing recognised so far. */
const UNCLEAR_MS = 450;
/** A sentence, or what may be one. */
const SENTENCE_MS = 500;
const OPEN_MS = 600;
/** Values of several words: dates, amounts. */
const VALUE_MS = 800;
/** "I would like to ..." */
const UNFINISHED_MS = 1_100;
/** People pause in the middle of long numbers. */
const SPELLING_MS = 1_200;
const DIGITS_MS = 1_500;

const YES_NO = new Set([
  ...['yes', 'yeah', 'yep', 'yup', 'yea', 'sure', 'ok', 'okay', 'correct', 'right', 'exactly'],
  ...['no', 'nope', 'nah', 'never', 'wrong', 'incorrect'],
]);
/** Additional words that may accompany a yes or a no. */
const BESIDE_YES_NO = new Set([
  ...['please', 'thanks', 'thank', 'you', 'that', 'thats', 'is', 'its', 'it', 'really', 'not'],
]);
const DIGIT_WORDS = new Set([
  ...['zero', 'oh', 'o', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'],
]);
const REPEATS: Record<string, number> = { double: 1, triple: 2 };
/** Words with which a sentence does not end. */
const OPEN_ENDED = new Set([
  ...['and', 'or', 'but', 'because', 'so', 'if', 'that', 'which', 'with', 'to', 'for', 'from'],
  ...['of', 'in', 'on', 'at', 'the', 'a', 'an', 'my', 'your', 'is', 'are', 'was', 'its', 'im'],
  ...['um', 'uh', 'er', 'erm', 'hmm', 'like', 'well', 'i', 'we', 'about'],
]);
const LONG_VALUES: readonly SlotType[] = ['number', 'date', 'time', 'money'];

/** The judge of a call. Computes when it is asked after a change: words change while the caller speaks, and the silence
 *  is needed in pauses only. */
export class Endpointing implements TurnJudge {
  #said: CallerWords | undefined;
  #silenceNeededMs = Number.NaN;

  consider(said: CallerWords): void {
    this.#said = said;
    this.#silenceNeededMs = Number.NaN;
  }

  get silenceNeededMs(): number {
    if (Number.isNaN(this.#silenceNeededMs)) {
      this.#silenceNeededMs = this.#said === undefined ? OPEN_MS : silenceNeededMs(this.#said);
    }
    return this.#silenceNeededMs;
  }

  get isIncomplete(): boolean {
    return this.#said !== undefined && isValueIncomplete(this.#said);
  }
}

/** Milliseconds of silence that end the turn. */
export function silenceNeededMs(said: CallerWords): number {
  const words = wordsOf(said.text);
  const neededMs = said.expectation.closed ? closedMs(words, said) : openMs(words, said);
  return said.hurried ? Math.min(neededMs, HURRIED_MS) : neededMs;
}

/** Whether digits are being spoken, and more of them are expected. */
function isValueIncomplete({ text, expectation }: CallerWords): boolean {
  const missing = digitsMissing(wordsOf(text), expectation) ?? 0;
  return missing > 0 && Number.isFinite(missing);
}

/** Whether all of `text` is expected input. False where anything may be said. */
export function isExpectedAnswer(text: string, expectation: ExpectedInput): boolean {
  const words = wordsOf(text);
  if (words.length === 0) return false;
  const { phrases, slots } = expectation;
  if (phrases.includes(words.join(' '))) return true;
  if (slots.includes('yes_no') && isYesNo(words)) return true;
  const missing = digitsMissing(words, expectation);
  return missing !== undefined && missing <= 0;
}

function closedMs(words: readonly string[], said: CallerWords): number {
  const { expectation } = said;
  if (words.length === 0) return unheardMs(said);
  const text = words.join(' ');
  if (expectation.phrases.some((phrase) => phrase.startsWith(`${text} `))) return AMBIGUOUS_MS;
  if (isExpectedAnswer(text, expectation)) return COMPLETE_MS;
  return valueMs(words, expectation) ?? (endsOpen(words) ? UNFINISHED_MS : UNCLEAR_MS);
}

function openMs(words: readonly string[], { text, expectation }: CallerWords): number {
  const missing = digitsMissing(words, expectation);
  if (missing !== undefined) return missing > 0 ? DIGITS_MS : COMPLETE_MS;
  if (endsOpen(words)) return UNFINISHED_MS;
  return /[.?!]\s*$/.test(text) ? SENTENCE_MS : OPEN_MS;
}

/** Without words, the kind of the expected answer decides. */
function unheardMs({ expectation, interimWords }: CallerWords): number {
  if (interimWords) return UNCLEAR_MS;
  const { slots, digits } = expectation;
  const many = slots.includes('digits') || (digits?.countMax ?? 1) > 1;
  if (many || slots.includes('spelling')) return SPELLING_MS;
  return LONG_VALUES.some((slot) => slots.includes(slot)) ? VALUE_MS : UNCLEAR_MS;
}

function valueMs(words: readonly string[], expectation: ExpectedInput): number | undefined {
  const missing = digitsMissing(words, expectation);
  if (missing !== undefined && missing > 0) return DIGITS_MS;
  if (expectation.slots.includes('spelling')) return SPELLING_MS;
  return LONG_VALUES.some((slot) => expectation.slots.includes(slot)) ? VALUE_MS : undefined;
}

function isYesNo(words: readonly string[]): boolean {
  return (
    words.some((word) => YES_NO.has(word)) &&
    words.every((word) => YES_NO.has(word) || BESIDE_YES_NO.has(word))
  );
}

/** How many digits are missing if digits are being spoken, else undefined. */
function digitsMissing(words: readonly string[], expectation: ExpectedInput): number | undefined {
  const { slots, digits } = expectation;
  if (!slots.includes('digits') && !slots.includes('digit')) return undefined;
  const last = words.at(-1);
  if (last === undefined || countDigits([last]) === 0) return undefined;
  const wanted = slots.includes('digits') ? digits?.countMax : 1;
  return (wanted ?? Number.POSITIVE_INFINITY) - countDigits(words);
}

function countDigits(words: readonly string[]): number {
  let count = 0;
  let extra = 0;
  for (const word of words) {
    if (/^\d+$/.test(word)) count += word.length + extra;
    else if (DIGIT_WORDS.has(word)) count += 1 + extra;
    extra = REPEATS[word] ?? 0;
  }
  return count;
}

function endsOpen(words: readonly string[]): boolean {
  const last = words.at(-1);
  return last !== undefined && OPEN_ENDED.has(last);
}

/** Lower-case words without punctuation; groups of digits with dashes or dots are separated. */
export function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/['’]/g, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}
