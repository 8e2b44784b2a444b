// Reads a service's messages by its description: final words, interim words, and the answer to `finalize`. Pure; never
// throws.

import type { RecognizerDescription } from '../../../model/speech-services/description.ts';
import { beginsWord } from '../../../std/text/unspaced-text.ts';
import {
  meetsConditions,
  numberAt,
  textAt,
  valueAt,
} from '../../service/description/message-template.ts';
import type { RecognizedWord, RecognizedWords } from '../stt.ts';

/** Words in one message: ten minutes of speech. */
const WORDS_MAX = 3_000;
const TEXT_CHARACTERS_MAX = 20_000;
const MS = { s: 1_000, ms: 1, '100ns': 1e-4 } as const;

export interface DescribedResults {
  /** Words that the service has finalized, in addition to the earlier ones. */
  final?: RecognizedWords;
  /** All words after the final ones; '' for none. */
  partial?: RecognizedWords;
  isAnswer: boolean;
}

/** Whether the service sends interim words. */
export function hasInterim({ tokens, results }: RecognizerDescription): boolean {
  return tokens !== undefined || results.some(({ is }) => is === 'partial');
}

/** Seconds that the service bills. Undefined in messages without them. */
export function countedIn(
  message: unknown,
  { counted }: RecognizerDescription,
): number | undefined {
  if (counted?.when !== undefined && !meetsConditions(message, counted.when)) return undefined;
  const count = numberAt(message, counted?.path);
  return count === undefined || counted?.unit !== 'ms' ? count : count / 1_000;
}

type Reading = RecognizerDescription['results'][number];
type Tokens = NonNullable<RecognizerDescription['tokens']>;

export function resultsIn(message: unknown, of: RecognizerDescription): DescribedResults {
  const answer = of.finalize?.answer;
  const isAnswer = answer !== undefined && meetsConditions(message, answer);
  const { tokens } = of;
  if (tokens !== undefined && Array.isArray(valueAt(message, tokens.list))) {
    return ofTokens(valueAt(message, tokens.list) as unknown[], tokens, isAnswer);
  }
  const reading = of.results.find(({ when }) => meetsConditions(message, when));
  if (reading === undefined) return { isAnswer };
  const words = wordsOf(message, reading, of.is_delta);
  return reading.is === 'final' ? { final: words, isAnswer } : { partial: words, isAnswer };
}

function wordsOf(message: unknown, reading: Reading, isDelta: boolean): RecognizedWords {
  const text = (textAt(message, reading.text) ?? '').slice(0, TEXT_CHARACTERS_MAX);
  const timed = reading.words === undefined ? [] : timesIn(message, reading.words);
  return {
    text: isDelta ? text : text.trim(),
    confidence: share(numberAt(message, reading.confidence)),
    ...(timed.length > 0 && { words: timed }),
    language: textAt(message, reading.language),
  };
}

/** Words with their times. Empty if one of them has none. */
function timesIn(message: unknown, of: NonNullable<Reading['words']>): RecognizedWord[] {
  const list = valueAt(message, of.list);
  const words: RecognizedWord[] = [];
  for (const item of Array.isArray(list) ? list.slice(0, WORDS_MAX) : []) {
    if (of.when !== undefined && !meetsConditions(item, of.when)) continue;
    const word = textAt(item, of.word)?.trim();
    const start = numberAt(item, of.start);
    const length = numberAt(item, of.length);
    const end = numberAt(item, of.end) ?? (start === undefined ? undefined : start + (length ?? 0));
    if (word === undefined || start === undefined || end === undefined) return [];
    if (word === '') continue;
    const ms = MS[of.unit];
    words.push({ word, startMs: Math.round(start * ms), endMs: Math.round(end * ms) });
  }
  return words;
}

function ofTokens(list: readonly unknown[], of: Tokens, isOther: boolean): DescribedResults {
  const fixed: unknown[] = [];
  const open: unknown[] = [];
  let isAnswer = isOther;
  for (const token of list.slice(0, WORDS_MAX)) {
    const text = textAt(token, of.text) ?? '';
    if (text === of.answer) isAnswer = true;
    if (text === of.answer || of.hidden.includes(text)) continue;
    (valueAt(token, of.is_final) === true ? fixed : open).push(token);
  }
  return {
    ...(fixed.length > 0 && { final: joined(fixed, of) }),
    partial: joined(open, of),
    isAnswer,
  };
}

/** Joins tokens. Leading spaces are kept, since a token may be the rest of a word. */
function joined(tokens: readonly unknown[], of: Tokens): RecognizedWords {
  const sure = tokens.flatMap((token) => share(numberAt(token, of.confidence)) ?? []);
  const words = wordsOfTokens(tokens, of);
  return {
    text: tokens
      .map((token) => textAt(token, of.text) ?? '')
      .join('')
      .slice(0, TEXT_CHARACTERS_MAX),
    confidence: sure.length === 0 ? null : Math.min(...sure),
    ...(words.length > 0 && { words }),
    language: textAt(tokens.at(-1), of.language),
  };
}

/** Joins tokens to words. A word begins with a space, or with a letter of a script without spaces. */
function wordsOfTokens(tokens: readonly unknown[], of: Tokens): RecognizedWord[] {
  const words: RecognizedWord[] = [];
  for (const token of tokens) {
    const piece = textAt(token, of.text) ?? '';
    const startMs = numberAt(token, of.start_ms);
    const endMs = numberAt(token, of.end_ms);
    if (startMs === undefined || endMs === undefined || piece.trim() === '') continue;
    const last = words.at(-1);
    if (last === undefined || beginsWord(last.word, piece))
      words.push({ word: piece.trim(), startMs, endMs });
    else words[words.length - 1] = { ...last, word: last.word + piece.trim(), endMs };
  }
  return words;
}

function share(value: number | undefined): number | null {
  return value === undefined ? null : Math.min(1, Math.max(0, value));
}
