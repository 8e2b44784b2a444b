// Text in scripts without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. Finds its words (word
// segmentation), and joins texts. No sentences: speech/tts/sentence-splitter.
// Source: UAX #29, with ICU's dictionaries for these scripts (Intl.Segmenter).

/** Scripts without spaces between sentences either. */
const TIGHT = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー`;
/** Scripts with a space between phrases. */
const PHRASED = String.raw`\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
/** Full-width punctuation. */
const MARKS = String.raw`\u3000-\u303F\uFF01-\uFF65`;

const UNSPACED = new RegExp(`[${TIGHT}${PHRASED}]`, 'u');
const HAN_OR_KANA = new RegExp(`[${TIGHT}]`, 'u');
const LETTERS = new RegExp(`[${TIGHT}${PHRASED}]\\p{M}*|[^\\s${TIGHT}${PHRASED}]+`, 'gu');
const UNSPACED_RUNS = new RegExp(`[${TIGHT}${PHRASED}]+`, 'gu');
const TIGHT_ENDS = sides(`${TIGHT}${MARKS}`);
const UNSPACED_ENDS = sides(`${TIGHT}${PHRASED}${MARKS}`);
const OPENING = /^[\p{Ps}\p{Pi}]/u;

/** Code units that ICU segments at once. Its time grows with their square: 70,000 take a minute. */
const SEGMENTED_MAX = 500;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Span of a word in code units of the text; `end` is exclusive. */
export interface WordSpan {
  start: number;
  end: number;
}

/** Whether the text has a letter of such a script. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** Whether the text has a Chinese or Japanese letter. */
export function hasHanOrKana(text: string): boolean {
  return HAN_OR_KANA.test(text);
}

/** Words with their punctuation: separated by white space, and within that by the segmentation of these scripts. No
 *  word is cut within a grapheme. */
export function wordSpans(text: string): WordSpan[] {
  const spans: WordSpan[] = [];
  for (const { 0: run, index } of text.matchAll(/\S+/g)) {
    if (UNSPACED.test(run)) divide(run, index, spans);
    else spans.push({ start: index, end: index + run.length });
  }
  return spans;
}

/** `at`: start of the run in the text. */
function divide(run: string, at: number, spans: WordSpan[]): void {
  let span: WordSpan | undefined;
  let isOpening = false;
  // Addresses and numbers are not words of these scripts and stay whole.
  let wasUnspaced = false;
  for (const { segment, index, isWordLike = false } of segmentsOf(run)) {
    const opens = OPENING.test(segment);
    const isOwn = isWordLike && (wasUnspaced || UNSPACED.test(segment));
    if (span === undefined || (!isOpening && (opens || isOwn))) {
      span = { start: at + index, end: 0 };
      spans.push(span);
    }
    span.end = at + index + segment.length;
    isOpening = !isWordLike && (opens || isOpening || index === 0);
    if (isWordLike) wasUnspaced = UNSPACED.test(segment);
  }
}

/** Segments by ICU. The last segment of a part may be incomplete and begins the next part. */
function* segmentsOf(
  run: string,
): Generator<Pick<Intl.SegmentData, 'segment' | 'index' | 'isWordLike'>> {
  let from = 0;
  while (from < run.length) {
    const part = [...segmenter.segment(run.slice(from, from + SEGMENTED_MAX))];
    const isEnd = from + SEGMENTED_MAX >= run.length;
    const whole = isEnd || part.length === 1 ? part : part.slice(0, -1);
    for (const { segment, index, isWordLike } of whole) {
      yield { segment, index: from + index, isWordLike: isWordLike === true };
    }
    from += isEnd ? run.length : whole.reduce((length, { segment }) => length + segment.length, 0);
  }
}

/** Like `wordSpans`, but each letter of these scripts is a span: in an unfinished text letters stay, but word
 *  boundaries may change. */
export function letterSpans(text: string): WordSpan[] {
  return [...text.matchAll(LETTERS)].map(({ 0: letter, index }) => {
    return { start: index, end: index + letter.length };
  });
}

/** Number of words as a reader counts them: separated by white space, and the words of these scripts. */
export function wordCount(text: string): number {
  return wordSpans(text).length;
}

/** Adds a space on both sides of each character of these scripts. */
export function spacedOut(text: string): string {
  return text.replace(UNSPACED_RUNS, (run) => ` ${[...run].join(' ')} `);
}

/** Joins texts in sequence with spaces; without one between two Chinese or Japanese texts. '' is left out. */
export function joinTexts(texts: readonly string[]): string {
  return joined(texts, TIGHT_ENDS);
}

/** Joins words of one text: like `joinTexts`, and without spaces in the other scripts as well. */
export function joinSingleWords(words: readonly string[]): string {
  return joined(words, UNSPACED_ENDS);
}

/** Whether `after`, directly following `before`, begins a new word: at white space, or at a letter of these scripts. */
export function beginsWord(before: string, after: string): boolean {
  if (/^\s/.test(after) || /\s$/.test(before)) return true;
  const { begin, end } = UNSPACED_ENDS;
  return /^[\p{L}\p{N}]/u.test(after) && (begin.test(after) || end.test(before.slice(-2)));
}

/** Removes the last word if it may be unfinished. Text that ends with a mark or a space stays. */
export function withoutLastWord(text: string): string {
  // A regular expression that ends with $ would try each letter of a text without spaces.
  let from = text.length;
  while (from > 0 && !/[\s.!?…,;:]/.test(text[from - 1] ?? '')) from--;
  const offset = text.slice(from).search(/[\p{L}\p{N}]/u);
  if (offset < 0) return text;
  const end = text.slice(from + offset);
  if (!UNSPACED.test(end)) return text.slice(0, from + offset);
  if (!/[\p{L}\p{M}\p{N}]$/u.test(text.slice(-2))) return text;
  return text.slice(0, from + offset + (wordSpans(end).at(-1)?.start ?? 0));
}

interface Sides {
  /** Pattern for the last two code units: one character. */
  end: RegExp;
  begin: RegExp;
}

function sides(characters: string): Sides {
  return { end: new RegExp(`[${characters}]$`, 'u'), begin: new RegExp(`^[${characters}]`, 'u') };
}

function joined(texts: readonly string[], { end, begin }: Sides): string {
  let all = '';
  for (const text of texts) {
    const isTight = all === '' || text === '' || (begin.test(text) && end.test(all.slice(-2)));
    all += isTight ? text : ` ${text}`;
  }
  return all;
}
