// From what is expected to a grammar that PocketSphinx understands. Pure. Phrases that cannot be pronounced are
// left out with a warning, so that a grammar is never invalid.
// Source: JSpeech Grammar Format (W3C note, 2000); words are those of the pronouncing dictionary.

import type { ExpectedInput } from '../../../model/expected-input.ts';
import { numberWords } from './number-words.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';
import { RULES, rulesFor, slotRule } from './slot-grammar.ts';

export interface Grammar {
  /** JSGF; equal for equal expectations. */
  text: string;
  /** Every word in it, each once. */
  words: string[];
}

export interface GrammarResult {
  /** Undefined if there is nothing that could be said. */
  grammar: Grammar | undefined;
  warnings: GrammarWarning[];
}

export interface GrammarWarning {
  phrase: string;
  reason: 'unknown word' | 'too long' | 'too many phrases' | 'empty';
  /** The word, where one is the reason. */
  word: string;
}

export interface GrammarOptions {
  dictionary: Pick<Dictionary, 'has'>;
}

/** Beyond this a closed grammar is guessing, and the search slows down. */
const PHRASES_MAX = 500;
const PHRASE_WORDS_MAX = 30;
const PHRASE_CHARS_MAX = 500;

export function buildGrammar(expectation: ExpectedInput, options: GrammarOptions): GrammarResult {
  const warnings: GrammarWarning[] = [];
  const phrases = sayablePhrases(expectation.phrases, options.dictionary, warnings);
  const slots = [...new Set(expectation.slots)].map(slotRule);
  if (phrases.length + slots.length === 0) return { grammar: undefined, warnings };
  const said = [...slots.map((slot) => `<${slot}>`), ...phrases];
  const rules = [
    ...rulesFor(slots).map((name) => rule(name, RULES[name] ?? '')),
    `public ${rule('utterance', said.join(' | '))}`,
  ];
  const text = `#JSGF V1.0;\ngrammar expected;\n${rules.join('\n')}\n`;
  return { grammar: { text, words: wordsOf(rules) }, warnings };
}

function rule(name: string, expansion: string): string {
  return `<${name}> = ${expansion};`;
}

/** The phrases in the dictionary's words, without doubles, in a fixed order. */
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

/** Lower-case words of letters, digits, inner apostrophes and full stops. */
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

/** In words of the dictionary; letter by letter if it is an abbreviation; undefined if it cannot be said. */
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

/** What a JSGF reader takes as one word. */
function isToken(word: string): boolean {
  return /^[a-z]['a-z]*[a-z.]?$|^[a-z](\.[a-z])*\.?$/.test(word);
}

function wordsOf(rules: readonly string[]): string[] {
  const expansions = rules.map((each) => each.slice(each.indexOf('=') + 1));
  const words = expansions
    .join(' ')
    .replace(/<\w+>/g, ' ')
    .match(/[a-z][a-z'._]*/g);
  return [...new Set(words ?? [])];
}
