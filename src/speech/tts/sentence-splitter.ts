// Splits text that arrives in pieces into parts for synthesis: the first part early (a sentence or a long enough
// clause), later ones by whole sentences. The joined parts equal the text. The abbreviations of nine languages, the marks
// of other scripts, and the words of scripts without spaces; it does not parse SSML or Markdown.

import { tablesOf } from '../../model/languages/languages.ts';
import {
  CLAUSE_MARKS,
  CLOSING_MARKS,
  FREE_MARKS,
  SENTENCE_MARKS,
} from '../../std/text/punctuation.ts';
import {
  hasHanOrKana,
  isUnspaced,
  withoutLastWord,
  wordSpans,
} from '../../std/text/unspaced-text.ts';
import { beginWithin, spokenLength } from './spoken-length.ts';

export interface SentenceSplitter {
  /** Returns the parts that `delta` completes, in order, with the white space after them. */
  push(delta: string): string[];
  /** Text that has no boundary so far. */
  readonly held: string;
  /** Takes at most `wordsMax` complete words of the held text, for a voice that must not wait for the boundary.
   *  Undefined if there are fewer than two. */
  takeWords(wordsMax: number): string | undefined;
  /** Drops an incomplete word at the end of the held text. */
  dropWord(): void;
  /** Returns the rest. The next `push` begins a new text. */
  end(): string[];
}

export interface SplitterOptions {
  /** Shortest clause that may be the first part, in characters as `spokenLength` counts them. Default 20. */
  firstMinChars?: number;
  /** Length up to which later sentences are joined, counted likewise. Default 20. */
  minChars?: number;
}

/** Longest part: text without any boundary is cut here. Half a minute of speech, the limit of one synthesis, as
 *  `spokenLength` counts. */
const PIECE_CHARS_MAX = 400;
/** Shortest later part in Thai, Lao, Khmer and Burmese, which do not mark sentences: four seconds of speech. */
const PHRASES_CHARS_MIN = 60;

/** Code units after a cut that determine its last word. */
const LOOKED_AHEAD = 50;

const SENTENCE_END = new RegExp(`[${SENTENCE_MARKS}]`);
const CLAUSE_END = new RegExp(`[${CLAUSE_MARKS}]`);
const CLOSING = new RegExp(`[${SENTENCE_MARKS}${CLOSING_MARKS}]`);
const CONTENT = /[\p{L}\p{N}]/u;
const FREE = new RegExp(`[${FREE_MARKS}]`);
const DIGIT = /\p{Nd}/u;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Number of a day at the end of a text. */
const DAY_NUMBER = /(^|[^\d.,:])\d{1,2}$/;
/** Length of the longest month and one more. */
const MONTH_CHARS_MAX = 10;
/** Characters before a number that may have the word before it. */
const LOOKED_BACK = 12;
/** Word before a full stop, with inner stops: "p.m", "example", "12". */
const LAST_WORD = /[^\s(["'“]*$/;

const abbreviations = [...tablesOf('abbreviations').values()];
const ordinals = [...tablesOf('ordinals').values()];
const TITLES: ReadonlySet<string> = new Set(abbreviations.flatMap(({ titles }) => titles));
const BEFORE_NUMBER: ReadonlySet<string> = new Set(
  abbreviations.flatMap(({ beforeNumbers }) => beforeNumbers),
);
/** Ends of German compounds that are abbreviations before a number: "Hauptstr. 5". */
const COMPOUND_BEFORE_NUMBER = /\p{L}str$/u;
const BEFORE_ORDINAL: ReadonlySet<string> = new Set(ordinals.flatMap(({ before }) => before));
const MONTHS: ReadonlySet<string> = new Set(ordinals.flatMap(({ months }) => months));

/** Index at which a part ends, 'no' boundary, or 'unknown' without more text. */
type Verdict = number | 'no' | 'unknown';

export function createSentenceSplitter(options: SplitterOptions = {}): SentenceSplitter {
  const firstMinChars = options.firstMinChars ?? 20;
  const minChars = options.minChars ?? 20;
  let text = '';
  /** Index up to which the text was checked and has no boundary. */
  let looked = 0;
  let first = true;

  function take(end: number): string {
    const piece = text.slice(0, end);
    text = text.slice(end);
    looked = 0;
    first = false;
    return piece;
  }

  function judge(index: number, ended: boolean): Verdict {
    const verdict = boundaryAt(text, index, { clauses: first, ended });
    if (typeof verdict !== 'number') return verdict;
    const head = text.slice(0, index + 1);
    if (!CONTENT.test(head)) return 'no';
    return spokenLength(head.trim()) < lengthMin(text[index] ?? '') ? 'no' : verdict;
  }

  /** Shortest part that may end with this mark. */
  function lengthMin(mark: string): number {
    if (first) return CLAUSE_END.test(mark) || mark === ' ' ? firstMinChars : 0;
    return mark === ' ' ? PHRASES_CHARS_MIN : minChars;
  }

  function next(ended: boolean): string | undefined {
    const max = beginWithin(text, PIECE_CHARS_MAX);
    for (; looked < max; looked++) {
      const verdict = judge(looked, ended);
      if (verdict === 'unknown') break;
      if (verdict !== 'no') return take(verdict);
    }
    return text.length > max ? take(cutPoint(text, max)) : undefined;
  }

  function drain(ended: boolean): string[] {
    const pieces: string[] = [];
    for (let piece = next(ended); piece !== undefined; piece = next(ended)) pieces.push(piece);
    return pieces;
  }

  return {
    get held() {
      return text;
    },
    push(delta) {
      text += delta;
      return drain(false);
    },
    dropWord() {
      text = withoutLastWord(text);
      looked = Math.min(looked, text.length);
    },
    takeWords(wordsMax) {
      const end = wordsEnd(text, wordsMax);
      return end === 0 ? undefined : take(end);
    },
    end() {
      const pieces = drain(true);
      if (text !== '') pieces.push(take(text.length));
      first = true;
      return pieces;
    },
  };
}

function boundaryAt(
  text: string,
  index: number,
  how: { clauses: boolean; ended: boolean },
): Verdict {
  const mark = text[index] ?? '';
  if (mark === '\n') return skipSpace(text, index + 1);
  if (mark === ' ') return phraseEnd(text, index);
  if (how.clauses && CLAUSE_END.test(mark)) return clauseEnd(text, index);
  return SENTENCE_END.test(mark) ? sentenceEnd(text, index, how.ended) : 'no';
}

function sentenceEnd(text: string, index: number, ended: boolean): Verdict {
  const mark = text[index] ?? '';
  let after = index + 1;
  while (after < text.length && CLOSING.test(text[after] ?? '')) after++;
  if (after === text.length) return ended ? after : 'unknown';
  if (needsNoSpace(text, index, after)) return skipSpace(text, after);
  if (!isSpace(text[after])) return 'no';
  const next = skipSpace(text, after);
  if (mark !== '.' && mark !== '…') return next;
  if (!ended && needsMoreText(text, index, next)) return 'unknown';
  return next === text.length || stopEndsSentence(text, index, next) ? next : 'no';
}

/** Whether what follows the full stop is not known yet: nothing, or after the number of a day a word that may become a
 *  month. */
function needsMoreText(text: string, index: number, next: number): boolean {
  if (next === text.length) return true;
  if (!DAY_NUMBER.test(text.slice(0, index))) return false;
  const rest = text.slice(next, next + MONTH_CHARS_MAX).toLowerCase();
  return next + rest.length === text.length && [...MONTHS].some((month) => month.startsWith(rest));
}

function clauseEnd(text: string, index: number): Verdict {
  if (index + 1 === text.length) return 'unknown';
  if (!needsNoSpace(text, index, index + 1) && !isSpace(text[index + 1])) return 'no';
  const next = skipSpace(text, index + 1);
  if (next === text.length) return 'unknown';
  return isInNumber(text, index) ? 'no' : next;
}

/** End of a phrase in Thai, Lao, Khmer or Burmese: white space. */
function phraseEnd(text: string, index: number): Verdict {
  const before = text[index - 1] ?? '';
  if (!isUnspaced(before) || hasHanOrKana(before)) return 'no';
  const next = skipSpace(text, index + 1);
  if (next === text.length) return 'unknown';
  return isUnspaced(text[next] ?? '') ? next : 'no';
}

/** Whether the mark at `index` stands between digits, with or without white space after it. */
function isInNumber(text: string, index: number): boolean {
  const isDigit = (at: number) => DIGIT.test(text[at] ?? '');
  return isDigit(index - 1) && isDigit(skipSpace(text, index + 1));
}

/** Whether the mark at `index`, with others up to `after`, is a boundary without white space after it: a full-width
 *  mark outside numbers, or another one between Chinese or Japanese letters. */
function needsNoSpace(text: string, index: number, after: number): boolean {
  if (FREE.test(text[index] ?? '')) return !isInNumber(text, index);
  return hasHanOrKana(text[after] ?? '') && hasHanOrKana(text[index - 1] ?? '');
}

/** Whether the full stop at `index`, with white space up to `next`, ends a sentence and not just an abbreviation. */
function stopEndsSentence(text: string, index: number, next: number): boolean {
  const follower = text[next] ?? '';
  if (/\p{Ll}/u.test(follower)) return false;
  const word = (LAST_WORD.exec(text.slice(0, index))?.[0] ?? '').toLowerCase();
  if (TITLES.has(word)) return false;
  const numberFollows = /\d/.test(follower);
  if (numberFollows && isBeforeNumber(word)) return false;
  if (/^\d{1,2}$/.test(word)) {
    const start = index - word.length;
    return !opensLine(text, start) && !isOrdinal(text, start, next);
  }
  if (/^\p{L}$/u.test(word)) return word === 'i';
  return !word.includes('.') || /^[ap]\.m$/.test(word) || word.length > 5;
}

function isBeforeNumber(word: string): boolean {
  return BEFORE_NUMBER.has(word) || COMPOUND_BEFORE_NUMBER.test(word) || /\d$/.test(word);
}

/** Whether the number at `start` is an ordinal as German writes it: between an article or preposition and a noun, or
 *  before a month. `next` is the index of the word after it. */
function isOrdinal(text: string, start: number, next: number): boolean {
  const follower = /^\p{L}+/u.exec(text.slice(next, next + MONTH_CHARS_MAX))?.[0] ?? '';
  if (MONTHS.has(follower.toLowerCase())) return true;
  const before = /(\p{L}+)\s+$/u.exec(text.slice(Math.max(0, start - LOOKED_BACK), start))?.[1];
  return follower !== '' && before !== undefined && BEFORE_ORDINAL.has(before.toLowerCase());
}

/** Whether the number at `index` numbers a list: "1." at the start of a line. */
function opensLine(text: string, index: number): boolean {
  return /(^|\n)[ \t]*$/.test(text.slice(0, index));
}

/** Index after the white space. A run longer than a part is left to later parts, so that it is not scanned again for
 *  each mark. */
function skipSpace(text: string, from: number): number {
  const end = Math.min(text.length, from + PIECE_CHARS_MAX);
  let at = from;
  while (at < end && isSpace(text[at])) at++;
  return at;
}

function isSpace(char: string | undefined): boolean {
  return char !== undefined && /\s/.test(char);
}

/** Whether a word must stay with what follows: an opening mark, a number, a title. */
function isBoundToNext(word: string): boolean {
  return /[[(<`"“「『（【《*_~]|\d/.test(word) || TITLES.has(word.replace(/\.$/, '').toLowerCase());
}

/** Yields the complete words of the text, each with the start of the next one. */
export function* completeWords(text: string): Generator<{ word: string; next: number }> {
  for (const { start, end } of wordSpans(text)) {
    const next = skipSpace(text, end);
    // The last word is complete if white space follows it.
    if (end < text.length) yield { word: text.slice(start, end), next };
  }
}

/** Index after at most `wordsMax` complete words and the white space after them; 0 for fewer than two. */
function wordsEnd(text: string, wordsMax: number): number {
  let end = 0;
  let words = 0;
  for (const { word, next } of completeWords(text)) {
    if (/[[(<`]/.test(word)) break;
    words += 1;
    if (words >= 2 && !isBoundToNext(word)) end = next;
    if (words >= wordsMax && end > 0) break;
  }
  return end;
}

/** Index of the last white space within `max`, or else of the end of the last word or grapheme. */
function cutPoint(text: string, max: number): number {
  const space = text.slice(0, max).search(/\s\S*$/);
  if (space > 0 && !isUnspaced(text.slice(space, max))) return space + 1;
  const words = wordSpans(text.slice(0, max + LOOKED_AHEAD));
  const end = words.findLast((word) => word.end <= max)?.end ?? 0;
  return end > 0 ? end : graphemes.segment(text).containing(max)?.index || max;
}
