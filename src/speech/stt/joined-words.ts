// Joins recognised words from several results.

import { joinTexts } from '../../std/text/unspaced-text.ts';
import type { RecognizedWords } from './stt.ts';

export const NO_WORDS: RecognizedWords = { text: '', confidence: null };

/** Joins texts with spaces (none in Chinese and Japanese) and words in order. Takes the lowest confidence and the last
 *  language. */
export function joinWords(pieces: readonly RecognizedWords[]): RecognizedWords {
  const [only, ...more] = pieces.filter(({ text }) => text !== '');
  if (only === undefined) return NO_WORDS;
  return more.reduce(joinTwo, only);
}

function joinTwo(before: RecognizedWords, after: RecognizedWords): RecognizedWords {
  const { words } = before;
  return {
    text: joinTexts([before.text, after.text]),
    confidence: least(before.confidence, after.confidence),
    // Times for only some of the words would look like times for all.
    words:
      words === undefined || after.words === undefined ? undefined : [...words, ...after.words],
    language: after.language ?? before.language,
  };
}

function least(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
