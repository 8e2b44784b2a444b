// Text in scripts that are written without spaces between words: Chinese, Japanese, Thai, Lao, Khmer, Burmese. Where its
// words are (word segmentation), and what stands between two texts. No sentences: speech/tts/sentence-splitter.
// Source: UAX #29, with ICU's dictionaries for these scripts (Intl.Segmenter).

/** Without spaces between sentences too. */
const TIGHT = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー`;
/** With a space between phrases. */
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

/** Code units that ICU segments at once: it takes a minute for 70,000, its time growing with their square before. */
const SEGMENTED_MAX = 500;

const segmenter = new Intl.Segmenter('en', { granularity: 'word' });

/** Code units of the text; `end` is behind the word. */
export interface WordSpan {
  start: number;
  end: number;
}

/** Whether the text has a letter of such a script. */
export function isUnspaced(text: string): boolean {
  return UNSPACED.test(text);
}

/** Whether the text has a letter of Chinese or Japanese. */
export function hasHanOrKana(text: string): boolean {
  return HAN_OR_KANA.test(text);
}

/** The words with their punctuation: what white space separates, and within it the words of these scripts. No word is cut
 *  within a grapheme. */
export function wordSpans(text: string): WordSpan[] {
  const spans: WordSpan[] = [];
  for (const { 0: run, index } of text.matchAll(/\S+/g)) {
    if (UNSPACED.test(run)) divide(run, index, spans);
    else spans.push({ start: index, end: index + run.length });
  }
  return spans;
}

/** `at`: where the run begins in the text. */
function divide(run: string, at: number, spans: WordSpan[]): void {
  let span: WordSpan | undefined;
  let isOpening = false;
  // Addresses and numbers are no words of these scripts, and stay whole.
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

/** As ICU has them. The last segment of a part may be cut, and begins the next part. */
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

/** As `wordSpans`, but each letter of these scripts is one: the letters of an unfinished text stay, its words may become
 *  others. */
export function letterSpans(text: string): WordSpan[] {
  return [...text.matchAll(LETTERS)].map(({ 0: letter, index }) => {
    return { start: index, end: index + letter.length };
  });
}

/** As many as a reader counts: what white space separates, and the words of these scripts. */
export function wordCount(text: string): number {
  return wordSpans(text).length;
}

/** A space on both sides of each character of these scripts. */
export function spacedOut(text: string): string {
  return text.replace(UNSPACED_RUNS, (run) => ` ${[...run].join(' ')} `);
}

/** Texts that follow one another, with a space between two; none between two in Chinese or Japanese. '' is left out. */
export function joinTexts(texts: readonly string[]): string {
  return joined(texts, TIGHT_ENDS);
}

/** Words of one text: as `joinTexts`, and without a space in the other scripts as well. */
export function joinSingleWords(words: readonly string[]): string {
  return joined(words, UNSPACED_ENDS);
}

/** Whether `after`, which follows `before` at once, begins a word of its own: at white space, or at a letter of these
 *  scripts. */
export function beginsWord(before: string, after: string): boolean {
  if (/^\s/.test(after) || /\s$/.test(before)) return true;
  const { begin, end } = UNSPACED_ENDS;
  return /^[\p{L}\p{N}]/u.test(after) && (begin.test(after) || end.test(before.slice(-2)));
}

/** Without its last word, as far as that may be unfinished: text that ends with a mark or a space stays. */
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
  /** Tested with the last two code units: one character. */
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
