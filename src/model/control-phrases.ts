// Short phrases that control a conversation in any agent: acknowledgements that are no turn, phrases that always
// interrupt, requests to wait, yes and no, goodbye. The phrases are in languages/.

import { isUnspaced, spacedOut, wordSpans } from '../std/text/unspaced-text.ts';
import { type ControlPhrases, ENGLISH, tablesOf } from './languages/languages.ts';

export type AnswerKind = keyof typeof ENGLISH.answers;

/** Words of the longest acknowledgement; longer texts are turns. */
const BACKCHANNEL_WORDS_MAX = 4;
const BACKCHANNEL_LETTERS_MAX = 16;
/** Words of the longest request to wait; a longer text with such a phrase is a turn. */
const WAIT_WORDS_MAX = 7;
const WAIT_LETTERS_MAX = 24;
/** Words of the longest greeting. */
const GREETING_WORDS_MAX = 5;
const GREETING_LETTERS_MAX = 16;
/** Words of the longest farewell. */
const FAREWELL_WORDS_MAX = 8;
const FAREWELL_LETTERS_MAX = 24;

/** Code units of a text's beginning that are enough for each phrase and the word behind it. */
const BEGIN_MAX = 80;

/** Phrases of one language, in which a caller's words are looked up while they speak. */
interface Phrases {
  whole: ReadonlySet<string>;
  /** Beginnings of phrases of several words, up to the last word but one. */
  begins: ReadonlySet<string>;
}

/** Phrases by language, and of all languages: the caller's language is seldom known. */
interface PhraseLists {
  of: ReadonlyMap<string, readonly [Phrases]>;
  all: readonly Phrases[];
}

const NONE: Phrases = { whole: new Set(), begins: new Set() };

const phrases = tablesOf('phrases');
const backchannels = spelled('backchannels');
const agreements = spelled('agreements');
/** Agreements with the sounds around them. */
const spokenAgreements = spelled('agreements', ['backchannels']);
const greetings = spelled('greetings');
/** Greetings with the sounds around them. */
const spokenGreetings = spelled('greetings', ['backchannels']);
const farewells = spelled('farewells', ['politeWords', 'backchannels']);
const stops = spelled('stops');
const waits = spelled('waits');
/** Requests to wait with the words around them. */
const politeWaits = spelled('waits', ['politeWords']);

/** Text in lower case with words, their vowel signs and apostrophes only, and single spaces. */
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
  return ENGLISH.answers[kind];
}

/** Whether the text is only an acknowledgement ("mhm", "okay, yeah") that should not stop the agent and is no turn.
 *  After a question of the agent "yeah" is an answer, which the caller of this function must check. `language` as in
 *  `en-US`; all languages if it is not known. */
export function isBackchannel(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  return listsOf(backchannels, language).some(({ whole }) => isMadeOf(words, whole));
}

/** Whether further words may turn the text into an acknowledgement ("of", "okay got"). */
export function isBackchannelPrefix(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  return words.length < wordsMax && isBegun(words, listsOf(backchannels, language));
}

/** Whether the whole text agrees ("yes", "okay, that's right"). To a statement that is an acknowledgement, to a question
 *  an answer. `language` as in `isBackchannel`. */
export function isAgreement(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  const phrases = listsOf(agreements, language);
  return listsOf(spokenAgreements, language).some(
    ({ whole }, index) => isMadeOf(words, whole) && hasPhrase(words, phrases[index]),
  );
}

/** Whether further words may turn the text into an agreement ("that's", "yes that is"). */
export function isAgreementPrefix(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? BACKCHANNEL_LETTERS_MAX : BACKCHANNEL_WORDS_MAX;
  return words.length < wordsMax && isBegun(words, listsOf(spokenAgreements, language));
}

/** Whether the text begins with a phrase that always interrupts ("wait", "no, actually"). */
export function isStopWord(text: string, language?: string): boolean {
  if (isWaitPhrase(text, language)) return true;
  const begins = beginsOf(text);
  return [stops, waits].some((lists) =>
    listsOf(lists, language).some(({ whole }) => begins.some((begin) => whole.has(begin))),
  );
}

/** Beginnings of the text by whole words, as `partsOf` returns them: a car park (停车场) does not begin with "stop"
 *  (停). */
function beginsOf(text: string): string[] {
  const plain = plainWords(text).slice(0, BEGIN_MAX);
  return wordSpans(plain).map(({ end }) => partsOf(plain.slice(0, end)));
}

/** Whether the whole text asks the agent to be silent for a while ("hold on", "wait a minute, please"). */
export function isWaitPhrase(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? WAIT_LETTERS_MAX : WAIT_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  const phrases = listsOf(waits, language);
  return listsOf(politeWaits, language).some(
    ({ whole }, index) => isMadeOf(words, whole) && hasPhrase(words, phrases[index]),
  );
}

/** Whether the text contains a goodbye. */
export function isGoodbye(text: string): boolean {
  const plain = ` ${plainWords(text)} `;
  return phrasesOf('goodbye').some((phrase) => plain.includes(` ${phrase} `));
}

/** Whether the whole text greets or answers a call ("Hello?", "yeah, hi, good morning"). */
export function isGreeting(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? GREETING_LETTERS_MAX : GREETING_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  const phrases = listsOf(greetings, language);
  return listsOf(spokenGreetings, language).some(
    ({ whole }, index) => isMadeOf(words, whole) && hasPhrase(words, phrases[index]),
  );
}

/** Whether further words may turn the text into a greeting ("good", "hello good"). */
export function isGreetingPrefix(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? GREETING_LETTERS_MAX : GREETING_WORDS_MAX;
  return words.length < wordsMax && isBegun(words, listsOf(spokenGreetings, language));
}

/** Whether the whole text takes leave, or acknowledges that the other side does ("okay, thank you, bye"). */
export function isFarewell(text: string, language?: string): boolean {
  const words = partsOf(text).split(' ');
  const wordsMax = isUnspaced(text) ? FAREWELL_LETTERS_MAX : FAREWELL_WORDS_MAX;
  if (words[0] === '' || words.length > wordsMax) return false;
  return listsOf(farewells, language).some(({ whole }) => isMadeOf(words, whole));
}

/** Parts of phrases with single spaces: words, or letters where the script has no spaces between words. */
function partsOf(text: string): string {
  const plain = plainWords(text);
  return isUnspaced(plain) ? spacedOut(plain).replace(/ +/g, ' ').trim() : plain;
}

/** The phrases of one kind in each language. Those of `around` may stand before and after them, in any language. */
function spelled(
  kind: keyof ControlPhrases,
  around: readonly (keyof ControlPhrases)[] = [],
): PhraseLists {
  const more = around.flatMap((each) => [...phrases.values()].flatMap((lists) => lists[each]));
  const entries = [...phrases].map(([language, lists]): [string, readonly [Phrases]] => {
    const whole = [...lists[kind], ...more].map(partsOf);
    return [language, [{ whole: new Set(whole), begins: new Set(whole.flatMap(beginsOfPhrase)) }]];
  });
  return { of: new Map(entries), all: entries.flatMap(([, phrases]) => phrases) };
}

function beginsOfPhrase(phrase: string): string[] {
  const words = phrase.split(' ');
  return words.slice(1).map((_word, index) => words.slice(0, index + 1).join(' '));
}

/** The phrases of one language, or those of all, in the same order in each of the lists. */
function listsOf({ of, all }: PhraseLists, language: string | undefined): readonly Phrases[] {
  return (language === undefined ? undefined : of.get(language.slice(0, 2).toLowerCase())) ?? all;
}

/** Whether the words are a sequence of whole phrases. */
function isMadeOf(words: readonly string[], phrases: ReadonlySet<string>): boolean {
  if (words.length === 0) return true;
  return words.some(
    (_word, index) =>
      phrases.has(words.slice(0, index + 1).join(' ')) && isMadeOf(words.slice(index + 1), phrases),
  );
}

/** Whether the words are whole phrases and the beginning of another one. */
function isBegun(words: readonly string[], lists: readonly Phrases[]): boolean {
  if (words[0] === '') return false;
  const ends = words.map((_word, index) => words.slice(index).join(' '));
  return lists.some(({ whole, begins }) =>
    ends.some((end, index) => begins.has(end) && isMadeOf(words.slice(0, index), whole)),
  );
}

/** Whether a phrase is among the words. */
function hasPhrase(words: readonly string[], { whole }: Phrases = NONE): boolean {
  return words.some((_from, from) =>
    words.some((_to, to) => to >= from && whole.has(words.slice(from, to + 1).join(' '))),
  );
}
