// The words of a text that the caller heard, by the word times of the service, or by the share of the text without
// times. A word counts once its middle was heard.

import { spokenLength } from '../../speech/tts/spoken-length.ts';
import type { WordTiming } from '../../speech/tts/tts.ts';
import { wordSpans } from '../../std/text/unspaced-text.ts';

export interface HeardPart {
  text: string;
  /** Word times. Those of the beginning for a text that is still being synthesised. */
  words: readonly WordTiming[];
  heardMs: number;
  /** Length of the text's audio; undefined while more may come. */
  totalMs: number | undefined;
  /** Length of the text's audio so far. */
  knownMs: number;
}

/** Assumed speaking rate of an unfinished text. */
const MS_PER_LETTER = 65;
/** Longest pause between two sentences. After a longer one, a service without further times is speaking. */
const PAUSE_MS = 600;

/** Probable length of spoken text, in milliseconds. */
export function expectedMs(text: string): number {
  return spokenLength(text) * MS_PER_LETTER;
}

export function heardTextOf(part: HeardPart): string {
  const { text, words, heardMs, totalMs } = part;
  if (heardMs <= 0) return '';
  if (words.length === 0) return byShare(part);
  const heard = words.filter((word) => (word.startMs + word.endMs) / 2 < heardMs);
  const spoken = words.map(({ word }) => word).join('');
  if (!text.replace(/\s+/g, '').startsWith(spoken.replace(/\s+/g, ''))) {
    // The times are of other words than the text's ("2nd" is spoken as one word or two).
    return totalMs === undefined ? byShare(part) : byCount(text, heard.length, words.length);
  }
  const end = endOf(text, heard);
  const lastMs = words.at(-1)?.endMs ?? 0;
  if (heard.length < words.length || totalMs !== undefined || heardMs <= lastMs + PAUSE_MS) {
    return text.slice(0, end);
  }
  const rest = { text: text.slice(end), words: [], heardMs: heardMs - lastMs };
  const more = byShare({ ...rest, totalMs: undefined, knownMs: part.knownMs - lastMs });
  return text.slice(0, end) + more;
}

/** Index at which the words end in the text, by their characters. */
function endOf(text: string, words: readonly WordTiming[]): number {
  let left = words.reduce((sum, { word }) => sum + word.replace(/\s+/g, '').length, 0);
  let end = 0;
  for (; left > 0 && end < text.length; end++) {
    if (!/\s/.test(text[end] as string)) left--;
  }
  return end;
}

function byCount(text: string, heard: number, all: number): string {
  const written = wordSpans(text);
  const shown = written.length === all ? heard : Math.floor((heard / all) * written.length);
  return text.slice(0, written[shown - 1]?.end ?? 0);
}

function byShare({ text, heardMs, totalMs, knownMs }: HeardPart): string {
  const wholeMs = totalMs ?? Math.max(knownMs, expectedMs(text));
  const heard = (heardMs / Math.max(1, wholeMs)) * spokenLength(text);
  let before = 0;
  let end = 0;
  for (const word of wordSpans(text)) {
    const start = before + spokenLength(text.slice(end, word.start));
    const length = spokenLength(text.slice(word.start, word.end));
    if (start + length / 2 >= heard) break;
    before = start + length;
    end = word.end;
  }
  return text.slice(0, end);
}
