// Reads word times from a message by a description: one word, a list of objects, or three lists. Pure; never throws.

import type { VoiceDescription } from '../../../model/speech-services/schemas/description.ts';
import { numberAt, textAt, valueAt } from '../../service/description/message-template.ts';
import type { WordTiming } from '../tts.ts';

const WORDS_MAX = 2_000;

type Words = NonNullable<VoiceDescription['words']>;

/** `fromMs`: position in the utterance to which the times are relative. */
export function wordsIn(message: unknown, of: Words, fromMs: number): WordTiming[] {
  return itemsIn(message, of).flatMap(({ item, at }) => {
    const index = at === undefined ? '' : `.${at}`;
    const word = textAt(item, `${of.word}${index}`)?.trim();
    const start = numberAt(item, `${of.start}${index}`);
    const end = of.end === undefined ? undefined : numberAt(item, `${of.end}${index}`);
    const length = of.length === undefined ? undefined : numberAt(item, `${of.length}${index}`);
    const until = end ?? (start === undefined ? undefined : start + (length ?? 0));
    // Markup tags are listed as words.
    if (!word || /^<.*>$/.test(word) || start === undefined || until === undefined) return [];
    const ms = of.unit === 's' ? 1_000 : 1;
    return [
      { word, startMs: fromMs + Math.round(start * ms), endMs: fromMs + Math.round(until * ms) },
    ];
  });
}

function itemsIn(message: unknown, of: Words): { item: unknown; at?: number }[] {
  if (of.list !== undefined) {
    const list = valueAt(message, of.list);
    return Array.isArray(list) ? list.slice(0, WORDS_MAX).map((item) => ({ item })) : [];
  }
  const words = valueAt(message, of.word);
  if (!Array.isArray(words)) return [{ item: message }];
  return words.slice(0, WORDS_MAX).map((_, at) => ({ item: message, at }));
}
