// Phrases of voicemails, call screening, menus, queues and network announcements, by language: what says that no person
// has answered. `*` stands for up to three words, `#` for a key of the telephone.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { primaryLanguage } from './language-tag.ts';

/** voicemailHint: people say it too; it counts in a longer speech, or beside another hint. joke: takes hints back. */
const KINDS = [
  'voicemail',
  'voicemailHint',
  'noMessage',
  'screening',
  'screeningWait',
  'menu',
  'hold',
  'outOfService',
  'joke',
] as const;
export type AnswerPhrase = (typeof KINDS)[number];

const phrases = z.array(z.string().min(1)).min(1).readonly();
/** `number`: words for keys, separated by spaces. */
const lists = z.strictObject({
  number: z.string(),
  ...(Object.fromEntries(KINDS.map((kind) => [kind, phrases])) as Record<
    AnswerPhrase,
    typeof phrases
  >),
});
const ALL = z
  .record(z.string(), lists)
  .parse(JSON.parse(readFileSync(new URL('answer-phrases.json', import.meta.url), 'utf8')));
/** Networks and telephones announce in English everywhere. */
const ALWAYS = 'en';
/** Characters of a text that are read: a greeting is shorter. */
const TEXT_MAX = 2_000;

type Patterns = ReadonlyMap<AnswerPhrase, readonly RegExp[]>;

const compiled = new Map<string, Patterns>();

/** How many phrases of each kind are in the text. `language`: BCP 47; unknown languages, and undefined, count as English. */
export function answerPhrasesIn(
  text: string,
  language: string | undefined,
): ReadonlyMap<AnswerPhrase, number> {
  const words = ` ${normalized(text.slice(-TEXT_MAX))} `;
  const found = new Map<AnswerPhrase, number>();
  const own = language === undefined ? ALWAYS : primaryLanguage(language);
  for (const tag of new Set([own, ALWAYS])) {
    for (const [kind, patterns] of patternsOf(tag)) {
      const count = patterns.filter((pattern) => pattern.test(words)).length;
      if (count > 0) found.set(kind, (found.get(kind) ?? 0) + count);
    }
  }
  return found;
}

function patternsOf(tag: string): Patterns {
  const known = compiled.get(tag);
  if (known !== undefined) return known;
  const own = ALL[tag];
  const patterns = new Map<AnswerPhrase, readonly RegExp[]>();
  if (own === undefined) return patterns;
  const keys = `(?:\\d+|${normalized(own.number).split(' ').join('|')})`;
  for (const kind of KINDS)
    patterns.set(
      kind,
      own[kind].map((phrase) => patternOf(phrase, keys)),
    );
  compiled.set(tag, patterns);
  return patterns;
}

function patternOf(phrase: string, keys: string): RegExp {
  const source = normalized(phrase, '*#')
    .replaceAll('* ', '*')
    .replaceAll('*', '(?:\\S+ ){0,3}')
    .replaceAll('#', keys);
  return new RegExp(` ${source}`, 'u');
}

/** Lower case, without accents and signs, apostrophes left out, single spaces. */
function normalized(text: string, kept = ''): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f'’]/gu, '')
    .replaceAll(kept === '' ? /[^\p{L}\p{N}]+/gu : /[^\p{L}\p{N}*#]+/gu, ' ')
    .trim();
}
