// Converts the expected input to a JSGF grammar for PocketSphinx. Pure. Phrases without a pronunciation are omitted
// with a warning, so that the grammar is always valid.
// Source: JSpeech Grammar Format (W3C note, 2000); words are those of the pronouncing dictionary.

import type { ExpectedInput, SlotType } from '../../../model/expected-input.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';

export interface Grammar {
  /** JSGF text; equal for equal expectations. */
  text: string;
  /** Every word of the grammar, each once. */
  words: string[];
  /** Form of the grammar: `phrases` has whole phrases only, `loop` repeats words in any order. */
  form: GrammarForm;
  /** Rival phrases in the grammar, including those of other steps. */
  rivals: readonly string[];
  /** Rivals with a word that no value has. "oh" is not one of them: it is a digit. */
  strangers: readonly string[];
}

export type GrammarForm = 'phrases' | 'values' | 'loop';

export interface GrammarResult {
  /** Undefined if no phrase remains. */
  grammar: Grammar | undefined;
  warnings: GrammarWarning[];
}

export interface GrammarWarning {
  phrase: string;
  reason: 'unknown word' | 'too long' | 'too many phrases' | 'empty';
  /** The word without a pronunciation, if that is the reason. */
  word: string;
}

export interface GrammarOptions {
  dictionary: Pick<Dictionary, 'has'>;
  /** Unexpected phrases that compete with the expected ones in the grammar. Default: none. */
  rivals?: readonly string[];
}

/** Probability of a rival phrase relative to an expected one: a rival is recognised only if it fits clearly better.
 *  With equal probabilities, rivals took 13 of 121 expected answers, with this one 9; of 444 unexpected utterances, 149
 *  and 165 became expected words, before any confidence threshold. */
const RIVAL_WEIGHT = 0.002;

const LOOPS: readonly SlotType[] = ['digits', 'spelling'];

/** With more phrases, results are guesses and the search is slow. */
const PHRASES_MAX = 500;
const PHRASE_WORDS_MAX = 30;
const PHRASE_CHARS_MAX = 500;

export function buildGrammar(expectation: ExpectedInput, options: GrammarOptions): GrammarResult {
  const warnings: GrammarWarning[] = [];
  const phrases = sayablePhrases(expectation.phrases, options.dictionary, warnings);
  const slots = [...new Set(expectation.slots)].map(slotRule);
  if (phrases.length + slots.length === 0) return { grammar: undefined, warnings };
  const values = slots.flatMap((slot) => (RULES[slot] ?? '').split(' | '));
  const expected = new Set([...phrases, ...values]);
  const unexpected = [...(expectation.elsewhere ?? []), ...(options.rivals ?? [])];
  const rivals = sayablePhrases(unexpected, options.dictionary, []);
  const others = rivals.filter((phrase) => !expected.has(phrase));
  const own = [...slots.map((slot) => `<${slot}>`), ...phrases];
  const said = others.length === 0 ? own : [...weighted(own, 1), ...weighted(others, RIVAL_WEIGHT)];
  const valueRules = rulesFor(slots).map((name) => rule(name, RULES[name] ?? ''));
  const valueWords = new Set(wordsOf(valueRules));
  const strangers = others.filter((each) => each.split(' ').some((word) => !valueWords.has(word)));
  const rules = [...valueRules, `public ${rule('utterance', said.join(' | '))}`];
  const text = `#JSGF V1.0;\ngrammar expected;\n${rules.join('\n')}\n`;
  const form = formOf(expectation.slots);
  return { grammar: { text, words: wordsOf(rules), form, rivals: others, strangers }, warnings };
}

function weighted(expansions: readonly string[], weight: number): string[] {
  return expansions.map((each) => `/${weight}/ ${each}`);
}

function formOf(slots: readonly SlotType[]): GrammarForm {
  if (slots.length === 0) return 'phrases';
  return slots.some((slot) => LOOPS.includes(slot)) ? 'loop' : 'values';
}

function rule(name: string, expansion: string): string {
  return `<${name}> = ${expansion};`;
}

/** Phrases in the dictionary's words, without duplicates, in a fixed order. */
function sayablePhrases(
  phrases: readonly string[],
  dictionary: Pick<Dictionary, 'has'>,
  warnings: GrammarWarning[],
): string[] {
  const sayable = new Set<string>();
  for (const phrase of phrases) {
    const outcome = sayablePhrase(phrase, dictionary);
    if (typeof outcome !== 'string') warnings.push({ phrase, ...outcome });
    else if (sayable.size >= PHRASES_MAX) {
      warnings.push({ phrase, reason: 'too many phrases', word: '' });
      break;
    } else sayable.add(outcome);
  }
  return [...sayable].sort();
}

function sayablePhrase(
  phrase: string,
  dictionary: Pick<Dictionary, 'has'>,
): string | Omit<GrammarWarning, 'phrase'> {
  if (phrase.length > PHRASE_CHARS_MAX) return { reason: 'too long', word: '' };
  const words = plainWords(phrase);
  if (words.length === 0) return { reason: 'empty', word: '' };
  const said: string[] = [];
  for (const word of words) {
    const sayable = sayableWord(word, dictionary);
    if (sayable === undefined) return { reason: 'unknown word', word };
    said.push(sayable);
  }
  const joined = said.join(' ');
  return said.length > PHRASE_WORDS_MAX ? { reason: 'too long', word: '' } : joined;
}

/** Splits a phrase into lower-case words of letters, digits, inner apostrophes and full stops. */
function plainWords(phrase: string): string[] {
  return phrase
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[‘’]/g, "'")
    .replace(/&/g, ' and ')
    .toLowerCase()
    .replace(/(\d)([a-z])/g, '$1 $2')
    .replace(/([a-z])(\d)/g, '$1 $2')
    .replace(/[^a-z0-9'.]+/g, ' ')
    .split(' ')
    .map((word) => word.replace(/^['.]+|'+$/g, ''))
    .filter((word) => /[a-z0-9]/.test(word));
}

/** A word in words of the dictionary; an abbreviation letter by letter. Undefined without a pronunciation. */
function sayableWord(word: string, dictionary: Pick<Dictionary, 'has'>): string | undefined {
  if (/^\d+$/.test(word)) return sayableNumber(word);
  const candidates = [
    word.replace(/\.+$/, ''),
    word,
    word.replace(/\./g, ''),
    word.replace(/'/g, ''),
  ];
  const known = candidates.find((each) => isToken(each) && dictionary.has(each));
  if (known !== undefined) return known;
  const letters = word.replace(/[^a-z]/g, '');
  const abbreviation = word.includes('.') || /^[^aeiouy]{2,5}$/.test(letters);
  return abbreviation && letters !== '' && letters.length <= 6 ? [...letters].join(' ') : undefined;
}

function sayableNumber(digits: string): string | undefined {
  if (digits.length <= 3 && !digits.startsWith('0')) return numberWords(Number(digits));
  if (digits.length > 16) return undefined;
  return [...digits].map((digit) => numberWords(Number(digit))).join(' ');
}

/** Whether a JSGF parser reads it as one word. */
function isToken(word: string): boolean {
  return /^[a-z]['a-z]*[a-z.]?$|^[a-z](\.[a-z])*\.?$/.test(word);
}

function wordsOf(rules: readonly string[]): string[] {
  const expansions = rules.map((each) => each.slice(each.indexOf('=') + 1));
  const words = expansions
    .join(' ')
    .replace(/<\w+>|\/[\d.]+\//g, ' ')
    .match(/[a-z][a-z'._]*/g);
  return [...new Set(words ?? [])];
}

export const ONES = 'one two three four five six seven eight nine'.split(' ');
export const TEENS =
  'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
export const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');

/** Words of a number from 0 to 999,999, without hyphens: "one hundred twenty three". */
export function numberWords(value: number): string {
  if (value === 0) return 'zero';
  const thousands = Math.floor(value / 1_000);
  const hundreds = Math.floor((value % 1_000) / 100);
  const parts = [
    thousands > 0 ? `${numberWords(thousands)} thousand` : '',
    hundreds > 0 ? `${ONES[hundreds - 1]} hundred` : '',
    belowHundred(value % 100),
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function belowHundred(value: number): string {
  if (value === 0) return '';
  if (value < 10) return ONES[value - 1] ?? '';
  if (value < 20) return TEENS[value - 10] ?? '';
  const tens = TENS[Math.floor(value / 10) - 2] ?? '';
  return value % 10 === 0 ? tens : `${tens} ${ONES[(value % 10) - 1]}`;
}

const or = (words: readonly string[]) => words.join(' | ');

const MONTHS =
  'january february march april may june july august september october november december'.split(
    ' ',
  );
const WEEKDAYS = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ');
const LETTERS = 'a b c d e f g h i j k l m n o p q r s t u v w x y z'.split(' ');
const ORDINALS =
  'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth'.split(
    ' ',
  );

/** Rules by name, without brackets. Each may use the `slot_…` rules after it. */
export const RULES: Record<string, string> = {
  slot_yes_no:
    "yes | yes please | yeah | yep | yup | sure | correct | that is correct | that's correct | right | that's right | okay | of course | no | no thanks | no thank you | nope | not really | wrong | that's wrong | incorrect",
  slot_digit: '<one_digit>',
  slot_digits: '<digit_group>+',
  slot_number: '<whole_number>',
  slot_date:
    '[on] [the] <day_ordinal> of <month> [<year>] | [on] <month> [the] <day_ordinal> [<year>] | [on] <month> <day_cardinal> [<year>] | [on] the <day_ordinal> | <relative_day> | [on] <weekday>',
  slot_time:
    "[at] <hour> [<minute>] [<half_of_day>] | [at] <hour> o'clock [<half_of_day>] | [at] (half | quarter) past <hour> | [at] quarter to <hour> | [at] noon | [at] midnight",
  // Relative days are recognised and then confirmed. Without them "today" would be recognised as a Tuesday.
  slot_weekday: '<weekday> | <relative_day>',
  slot_money: '<dollars> [[and] <cents>] | <cents>',
  slot_spelling: '<letter_group>+',
  one_digit: `zero | oh | ${or(ONES)}`,
  digit_group: '<one_digit> | double <one_digit> | triple <one_digit>',
  below_ten: or(ONES),
  below_hundred: `<below_ten> | ${or(TEENS)} | (${or(TENS)}) [<below_ten>]`,
  below_thousand: '<below_hundred> | (a | <below_ten>) hundred [[and] <below_hundred>]',
  whole_number:
    'zero | <below_thousand> | (a | <below_thousand>) thousand [[and] <below_thousand>]',
  month: or(MONTHS),
  day_ordinal: `${or(ORDINALS)} | twenty (${or(ORDINALS.slice(0, 9))}) | thirty first`,
  day_cardinal: `<below_ten> | ${or(TEENS)} | twenty [<below_ten>] | thirty [one]`,
  year: 'twenty <below_hundred> | two thousand [[and] <below_hundred>] | nineteen <below_hundred>',
  weekday: `[next | this] (${or(WEEKDAYS)})`,
  relative_day: 'today | tomorrow | the day after tomorrow | next week',
  hour: `<below_ten> | ten | eleven | twelve`,
  minute: `oh <below_ten> | ${or(TEENS)} | (${or(TENS.slice(0, 4))}) [<below_ten>]`,
  // Plurals are hard to recognise on the telephone: the number determines the form.
  dollars: '(one | a) dollar | <whole_number> dollars',
  cents: 'one cent | <below_hundred> cents',
  half_of_day: 'a.m. | p.m. | in the morning | in the afternoon | in the evening | at night',
  letter: or(LETTERS),
  letter_group: '<letter> | double <letter>',
};

export function slotRule(slot: SlotType): string {
  return `slot_${slot}`;
}

/** The rules in `names` and all that they use. */
export function rulesFor(names: readonly string[]): string[] {
  const needed = new Set<string>();
  const visit = (name: string) => {
    if (needed.has(name)) return;
    needed.add(name);
    for (const [, used] of (RULES[name] ?? '').matchAll(/<(\w+)>/g)) visit(used ?? '');
  };
  for (const name of names) visit(name);
  return [...needed];
}
