// How much of a text was delivered as audio, in whole clauses, when a service stopped in the middle: by the times of its
// words; beyond them by a slow speaking rate, because a clause said twice is better than one that is lost.

import {
  CLOSING_MARKS,
  FREE_MARKS,
  SPACED_CLAUSE_MARKS,
  SPACED_SENTENCE_MARKS,
} from '../../std/text/punctuation.ts';
import { spokenLength } from './spoken-length.ts';
import type { WordTiming } from './tts.ts';

/** Slow speech: few voices are slower. */
const MS_PER_LETTER = 90;
/** A pause after a clause. */
const PAUSE_MS = 400;
/** A word whose last milliseconds are missing was said. */
const TOLERANCE_MS = 20;
const SPACED_END = `[${SPACED_SENTENCE_MARKS}${SPACED_CLAUSE_MARKS}][${CLOSING_MARKS}]*(?=\\s|$)`;
const FREE_END = `(?:[${FREE_MARKS}](?!\\p{Nd})|(?<!\\p{Nd})[${FREE_MARKS}])[${CLOSING_MARKS}]*`;
/** Scripts that mark no clauses. */
const PHRASE_END = String.raw`(?<=[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}])(?=\s)`;
const CLAUSE = new RegExp(String.raw`\S.*?(?:${SPACED_END}|${FREE_END}|${PHRASE_END}|$)`, 'gsu');

/** Index of the first clause that was not delivered to its end; the length of the text if all were. */
export function deliveredCharacters(
  text: string,
  words: readonly WordTiming[],
  audioMs: number,
): number {
  const said = words.filter(({ endMs }) => endMs <= audioMs + TOLERANCE_MS);
  const known = positionAfter(text, said);
  // Times of other words than the text's say nothing about it.
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

/** Where the words end in the text; undefined if they are not its begin. */
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
