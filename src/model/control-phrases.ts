// Short phrases that control a conversation in any agent: acknowledgements that are no turn, phrases that always
// interrupt, requests to wait, yes and no, goodbye. The lists are in control-phrase-lists. No recognition and no
// policy here.

import { isUnspaced, spacedOut, wordSpans } from '../std/unspaced-text.ts';
import {
  BACKCHANNELS,
  ENGLISH_ANSWERS,
  POLITE_WORDS,
  STOPS,
  WAITS,
} from './control-phrase-lists.ts';

export type AnswerKind = keyof typeof ENGLISH_ANSWERS;

/** An acknowledgement has at most this many words; longer texts are turns. */
const BACKCHANNEL_WORDS_MAX = 4;
const BACKCHANNEL_LETTERS_MAX = 16;
/** A longer text that has such a phrase is a turn. */
const WAIT_WORDS_MAX = 7;
const WAIT_LETTERS_MAX = 24;

/** Code units that are enough for each phrase and the word behind it. */
const BEGIN_MAX = 80;

const backchannels = spelled(BACKCHANNELS);
const stops = spelled(STOPS);
const waits = spelled(WAITS);
const politeWords = POLITE_WORDS.map(partsOf);

/** Lower case, words with their vowel signs and apostrophes only, single spaces. */
export function plainWords(text: string): string {
  return text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/[^\p{L}\p{M}\p{N}'*#]+/gu, ' ')
    .trim();
}

/** The English phrases of an answer. */
export function phrasesOf(kind: AnswerKind): readonly string[] {
  return ENGLISH_ANSWERS[kind];
}

/** Whether the text is only an acknowledgement ("mhm", "okay, yeah") that should not stop the agent and is no
 *  turn. Where the agent has just asked, "yeah" is an answer: the caller of this function must know. `language` as in
 *  `en-US`; all languages if it is not known. */
export function isBackchannel(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  return listsOf(backchannels, language).some((phrases) => isMadeOf(words, phrases));
}

/** Whether further words may turn the text into an acknowledgement ("of", "okay got"). */
export function isBackchannelPrefix(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  if (words[0] === '' || words.length >= wordsMax) return false;
  return listsOf(backchannels, language).some((phrases) =>
    words.some((_word, index) => {
      const begun = `${words.slice(index).join(' ')} `;
      return (
        isMadeOf(words.slice(0, index), phrases) && phrases.some((each) => each.startsWith(begun))
      );
    }),
  );
}

/** Whether the text begins with a phrase that always interrupts ("wait", "no, actually"). */
export function isStopWord(text: string, language?: string): boolean {
  if (isWaitPhrase(text, language)) return true;
  const begins = beginsOf(text);
  return [stops, waits].some((lists) =>
    listsOf(lists, language).some((phrases) => phrases.some((phrase) => begins.has(phrase))),
  );
}

/** Whole words from the begin of the text, as `partsOf` has them: a car park (停车场) does not begin with "stop" (停). */
function beginsOf(text: string): ReadonlySet<string> {
  const plain = plainWords(text).slice(0, BEGIN_MAX);
  return new Set(wordSpans(plain).map(({ end }) => partsOf(plain.slice(0, end))));
}

/** Whether the whole text asks the agent to be silent for a while ("hold on", "wait a minute, please"). */
export function isWaitPhrase(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? WAIT_LETTERS_MAX : WAIT_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  return listsOf(waits, language).some((phrases) => {
    const asks = phrases.some((phrase) => ` ${words.join(' ')} `.includes(` ${phrase} `));
    return asks && isMadeOf(words, [...phrases, ...politeWords]);
  });
}

/** Whether the text contains a goodbye. */
export function isGoodbye(text: string): boolean {
  const plain = ` ${plainWords(text)} `;
  return phrasesOf('goodbye').some((phrase) => plain.includes(` ${phrase} `));
}

/** Of what phrases are made: words; letters, where the script has no spaces between words. With single spaces. */
function partsOf(text: string): string {
  const plain = plainWords(text);
  return isUnspaced(plain) ? spacedOut(plain).replace(/ +/g, ' ').trim() : plain;
}

function spelled(lists: Record<string, readonly string[]>): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.map(partsOf)]));
}

/** One language's list, or all lists: which languages a caller speaks is seldom known. */
function listsOf(
  lists: Record<string, readonly string[]>,
  language: string | undefined,
): readonly (readonly string[])[] {
  const own = language === undefined ? undefined : lists[language.slice(0, 2).toLowerCase()];
  return own === undefined ? Object.values(lists) : [own];
}

/** Whether the words are a sequence of whole phrases. */
function isMadeOf(words: readonly string[], phrases: readonly string[]): boolean {
  if (words.length === 0) return true;
  return words.some(
    (_word, index) =>
      phrases.includes(words.slice(0, index + 1).join(' ')) &&
      isMadeOf(words.slice(index + 1), phrases),
  );
}
