// How much of a text was delivered as audio, in whole clauses, when a service stopped in the middle. Uses word times,
// and after them a slow speaking rate: a repeated clause is better than a lost one.

import {
  CLOSING_MARKS,
  FREE_MARKS,
  SPACED_CLAUSE_MARKS,
  SPACED_SENTENCE_MARKS,
} from '../../std/text/punctuation.ts';
import { spokenLength } from './spoken-length.ts';
import type { WordTiming } from './tts.ts';

/** Slow speaking rate. Few voices are slower. */
const MS_PER_LETTER = 90;
/** Pause after a clause. */
const PAUSE_MS = 400;
/** Tolerance for a word whose last milliseconds are missing. */
const TOLERANCE_MS = 20;
const SPACED_END = `[${SPACED_SENTENCE_MARKS}${SPACED_CLAUSE_MARKS}][${CLOSING_MARKS}]*(?=\\s|$)`;
const FREE_END = `(?:[${FREE_MARKS}](?!\\p{Nd})|(?<!\\p{Nd})[${FREE_MARKS}])[${CLOSING_MARKS}]*`;
/** End of a phrase in scripts that do not mark clauses. */
const PHRASE_END = String.raw`(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])(?=\s)`;
const CLAUSE = new RegExp(String.raw`\S.*?(?:${SPACED_END}|${FREE_END}|${PHRASE_END}|$)`, 'gsu');

/** Index of the first clause that was not delivered completely; the text's length if all were. */
export function deliveredCharacters(
  text: string,
  words: readonly WordTiming[],
  audioMs: number,
): number {
  const said = words.filter(({ endMs }) => endMs <= audioMs + TOLERANCE_MS);
  const known = positionAfter(text, said);
  // Times of words that are not the text's are ignored.
  const position = known ?? 0;
  let leftMs = audioMs - (known === undefined ? 0 : (said.at(-1)?.endMs ?? 0));
  for (const { start, end } of clausesOf(text)) {
    const rest = text.slice(Math.max(start, position), Math.max(position, end));
    if (!/[\p{L}\p{N}]/u.test(rest)) continue;
    const needMs = spokenLength(rest) * MS_PER_LETTER + PAUSE_MS;
    if (leftMs < needMs) return start;
    leftMs -= needMs;
  }
  return text.length;
}

/** Position after the words in the text. Undefined if they are not its beginning. */
function positionAfter(text: string, words: readonly WordTiming[]): number | undefined {
  const spoken = words.map(({ word }) => word.replace(/\s+/g, '')).join('');
  let at = 0;
  for (const character of spoken) {
    while (/\s/.test(text[at] ?? '')) at++;
    if (!text.startsWith(character, at)) return undefined;
    at += character.length;
  }
  return at;
}

function* clausesOf(text: string): Generator<{ start: number; end: number }> {
  for (const clause of text.matchAll(CLAUSE)) {
    yield { start: clause.index, end: clause.index + clause[0].length };
  }
}
