// Word timings from the end times of flite's phones. Flite does not report which phones belong to which word: pauses
// are matched with punctuation, and the time between them is divided in proportion to the words' lengths.

import type { WordTiming } from '../tts.ts';

interface Span {
  startMs: number;
  endMs: number;
}

/** `printed`: output of flite's `-psdur`: "pau:0.164 hh:0.255 …", end times in seconds. */
export function wordTimings(text: string, printed: string): WordTiming[] {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const spans = speechSpans(printed);
  const whole = { startMs: spans[0]?.startMs ?? 0, endMs: spans.at(-1)?.endMs ?? 0 };
  const phrases = splitPhrases(words);
  if (phrases.length !== spans.length) return share(words, whole);
  return phrases.flatMap((phrase, index) => share(phrase, spans[index] ?? whole));
}

/** Spans of speech between two pauses. */
function speechSpans(printed: string): Span[] {
  const spans: Span[] = [];
  let endMs = 0;
  let open: Span | undefined;
  for (const [, phone, seconds] of printed.matchAll(/([a-z]+):(\d+\.\d+)/g)) {
    const startMs = endMs;
    endMs = Math.round(Number(seconds) * 1_000);
    if (phone === 'pau') {
      open = undefined;
      continue;
    }
    if (open === undefined) {
      open = { startMs, endMs };
      spans.push(open);
    }
    open.endMs = endMs;
  }
  return spans;
}

function splitPhrases(words: string[]): string[][] {
  const phrases: string[][] = [];
  let phrase: string[] = [];
  for (const word of words) {
    phrase.push(word);
    if (!/[,.;:?!–—]["')”’]*$/.test(word)) continue;
    phrases.push(phrase);
    phrase = [];
  }
  return phrase.length > 0 ? [...phrases, phrase] : phrases;
}

function share(words: string[], span: Span): WordTiming[] {
  const weights = words.map(spokenLength);
  const perWeight = (span.endMs - span.startMs) / weights.reduce((sum, weight) => sum + weight, 0);
  let at = span.startMs;
  return words.map((word, index) => {
    const startMs = Math.round(at);
    at += perWeight * (weights[index] ?? 0);
    return { word, startMs, endMs: Math.round(at) };
  });
}

/** Length in letters. A digit counts as a word of four. */
function spokenLength(word: string): number {
  const digits = word.match(/\d/g)?.length ?? 0;
  const letters = word.match(/\p{L}/gu)?.length ?? 0;
  return 4 * digits + letters + 1;
}
