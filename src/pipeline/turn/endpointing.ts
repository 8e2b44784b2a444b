// Endpointing: the silence that ends the caller's turn, by their words and the expected input. Words in, milliseconds
// out.

import { isAgreement, isGreeting } from '../../model/control-phrases.ts';
import type { ExpectedInput, SlotType } from '../../model/expected-input.ts';
import { primaryLanguage } from '../../model/language-tag.ts';
import { tablesOf } from '../../model/languages/languages.ts';
import { SENTENCE_MARKS } from '../../std/text/punctuation.ts';
import { isUnspaced, joinSingleWords, wordSpans } from '../../std/text/unspaced-text.ts';
import type { CallerWords, TurnJudge } from './turn-judge.ts';

/** Silence after a complete answer to a closed question. */
const COMPLETE_MS = 270;
/** Silence after a greeting that opens the call, with words and without them: the caller waits for the agent. */
const GREETING_MS = 350;
const GREETING_WORDLESS_MS = 450;
/** Silence while a sound holds the agent: a short wait decides soon whether it was an interruption. */
const HURRIED_MS = 300;
/** Silence after an answer that is complete, and also the beginning of a longer one. */
const AMBIGUOUS_MS = 450;
/** Silence after a closed question with nothing recognised so far. */
const UNCLEAR_MS = 450;
/** Silence after a sentence, or a possible one. */
const SENTENCE_MS = 500;
const OPEN_MS = 600;
/** Silence after values of several words: dates, amounts. */
const VALUE_MS = 800;
/** Silence after an unfinished sentence: "I would like to ...". */
const UNFINISHED_MS = 1_100;
/** Silence in long numbers, in which people pause. */
const SPELLING_MS = 1_200;
const DIGITS_MS = 1_500;

/** Marks at the end of a sentence. An ellipsis does not end one. */
const SENTENCE_END = new RegExp(`[${SENTENCE_MARKS.replace('…', '')}]\\s*$`);

/** Words of the longest entry of `endings`. */
const ENDING_WORDS_MAX = 3;

type Table = 'endings' | 'yesNo' | 'besideYesNo' | 'digits';

interface EndpointingWords extends Readonly<Record<Table, ReadonlySet<string>>> {
  repeats: Readonly<Record<string, number>>;
}

const WORDS: ReadonlyMap<string, EndpointingWords> = new Map(
  [...tablesOf('endpointing')].map(
    ([language, { endings, yesNo, besideYesNo, digits, repeats }]) => [
      language,
      {
        endings: new Set(endings),
        yesNo: new Set(yesNo),
        besideYesNo: new Set(besideYesNo),
        digits: new Set(digits),
        repeats,
      },
    ],
  ),
);

/** Words of other languages: hesitations that mean nothing else in any. Digits are read as figures. */
const OTHER_WORDS: EndpointingWords = {
  endings: new Set(['uh', 'uhm', 'hmm', 'mmm', 'ehm', 'äh', 'ähm', 'öh', 'euh']),
  yesNo: new Set(),
  besideYesNo: new Set(),
  digits: new Set(),
  repeats: {},
};

const LONG_VALUES: readonly SlotType[] = ['number', 'date', 'time', 'money'];

/** The gateway's default turn judge. Computes the silence on its first reading after a change, since the words change
 *  while the caller speaks and only pauses need the silence. */
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

/** Words of a caller, with the lists of their language. */
interface Spoken {
  words: readonly string[];
  known: EndpointingWords;
}

/** Words of a text. `language`: BCP 47; undefined: English. */
function spokenOf(text: string, language = 'en'): Spoken {
  return { words: wordsOf(text), known: WORDS.get(primaryLanguage(language)) ?? OTHER_WORDS };
}

/** Milliseconds of silence that end the turn. */
function silenceNeededMs(said: CallerWords): number {
  const spoken = spokenOf(said.text, said.language);
  const neededMs = said.expectation.closed ? closedMs(spoken, said) : openMs(spoken, said);
  return said.hurried ? Math.min(neededMs, HURRIED_MS) : neededMs;
}

/** Whether digits are being spoken, and more of them are expected. */
function isValueIncomplete({ text, language, expectation }: CallerWords): boolean {
  const missing = digitsMissing(spokenOf(text, language), expectation) ?? 0;
  return missing > 0 && Number.isFinite(missing);
}

/** Whether all of `text` is expected input. False for open speech. `language`: BCP 47. */
export function isExpectedAnswer(
  text: string,
  expectation: ExpectedInput,
  language: string | undefined,
): boolean {
  return isExpected(spokenOf(text, language), expectation);
}

function isExpected(spoken: Spoken, expectation: ExpectedInput): boolean {
  const { words } = spoken;
  if (words.length === 0) return false;
  const { phrases, slots } = expectation;
  if (phrases.includes(joinSingleWords(words))) return true;
  if (slots.includes('yes_no') && isYesNo(spoken)) return true;
  const missing = digitsMissing(spoken, expectation);
  return missing !== undefined && missing <= 0;
}

function closedMs(spoken: Spoken, said: CallerWords): number {
  const { expectation } = said;
  const { words } = spoken;
  if (words.length === 0) return unheardMs(said);
  const text = joinSingleWords(words);
  if (expectation.phrases.some((phrase) => phrase !== text && isBegin(text, phrase))) {
    return AMBIGUOUS_MS;
  }
  if (isExpected(spoken, expectation)) return COMPLETE_MS;
  return valueMs(spoken, expectation) ?? (endsOpen(spoken) ? UNFINISHED_MS : UNCLEAR_MS);
}

function openMs(spoken: Spoken, { text, language, expectation, opening }: CallerWords): number {
  if (opening === true && spoken.words.length === 0) return GREETING_WORDLESS_MS;
  if (opening === true && (isGreeting(text, language) || isAgreement(text, language))) {
    return GREETING_MS;
  }
  const missing = digitsMissing(spoken, expectation);
  if (missing !== undefined) return missing > 0 ? DIGITS_MS : COMPLETE_MS;
  if (endsOpen(spoken)) return UNFINISHED_MS;
  return SENTENCE_END.test(text) ? SENTENCE_MS : OPEN_MS;
}

/** Silence without words, by the kind of the expected answer. */
function unheardMs({ expectation, interimWords }: CallerWords): number {
  if (interimWords) return UNCLEAR_MS;
  const { slots, digits } = expectation;
  const many = slots.includes('digits') || (digits?.countMax ?? 1) > 1;
  if (many || slots.includes('spelling')) return SPELLING_MS;
  return LONG_VALUES.some((slot) => slots.includes(slot)) ? VALUE_MS : UNCLEAR_MS;
}

function valueMs(spoken: Spoken, expectation: ExpectedInput): number | undefined {
  const missing = digitsMissing(spoken, expectation);
  if (missing !== undefined && missing > 0) return DIGITS_MS;
  if (expectation.slots.includes('spelling')) return SPELLING_MS;
  return LONG_VALUES.some((slot) => expectation.slots.includes(slot)) ? VALUE_MS : undefined;
}

function isYesNo({ words, known }: Spoken): boolean {
  const { yesNo, besideYesNo } = known;
  return (
    words.some((word) => yesNo.has(word)) &&
    words.every((word) => yesNo.has(word) || besideYesNo.has(word))
  );
}

/** Number of missing digits if digits are being spoken, else undefined. */
function digitsMissing(
  { words, known }: Spoken,
  { slots, digits }: ExpectedInput,
): number | undefined {
  if (!slots.includes('digits') && !slots.includes('digit')) return undefined;
  const last = words.at(-1);
  if (last === undefined || countDigits([last], known) === 0) return undefined;
  const wanted = slots.includes('digits') ? digits?.countMax : 1;
  return (wanted ?? Number.POSITIVE_INFINITY) - countDigits(words, known);
}

function countDigits(words: readonly string[], { digits, repeats }: EndpointingWords): number {
  let count = 0;
  let extra = 0;
  for (const word of words) {
    if (/^\d+$/.test(word)) count += word.length + extra;
    else if (digits.has(word)) count += 1 + extra;
    extra = Object.hasOwn(repeats, word) ? (repeats[word] ?? 0) : 0;
  }
  return count;
}

function endsOpen({ words, known }: Spoken): boolean {
  for (let count = 1; count <= ENDING_WORDS_MAX && count <= words.length; count++) {
    if (known.endings.has(words.slice(-count).join(' '))) return true;
  }
  return false;
}

/** Lower-case words without punctuation; groups of digits with dashes or dots are separated. */
export function wordsOf(text: string): string[] {
  return runsOf(text).flatMap((run) =>
    isUnspaced(run) ? wordSpans(run).map(({ start, end }) => run.slice(start, end)) : [run],
  );
}

/** Words as in `wordsOf`, but words without a space between them are one. */
export function runsOf(text: string): string[] {
  const plain = text.normalize('NFC').toLowerCase().replace(/['’]/g, '');
  // Vowel signs belong to their letters.
  return plain.match(/(?:\p{L}\p{M}*|\p{N})+/gu) ?? [];
}

/** The words as one text for comparisons: punctuation and spaces differ between two results of a recogniser, and
 *  without spaces so do the words. */
export function plainOf(text: string): string {
  return joinSingleWords(wordsOf(text));
}

/** Whether one text of `plainOf` is the beginning of the other, by whole words where the script has spaces. */
export function isBegin(begin: string, whole: string): boolean {
  return isUnspaced(begin) ? whole.startsWith(begin) : `${whole} `.startsWith(`${begin} `);
}
