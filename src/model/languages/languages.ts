// Words of each language, one JSON file per language (ISO 639-1), read once: phrases that control a conversation, words
// of endpointing, abbreviations, and the engine's lines. Each language has the tables that are known for it. Who uses a
// table decides what a language without one gets.

import { readFileSync } from 'node:fs';
import { z } from 'zod';

const entries = z.array(z.string().min(1)).min(1).readonly();
const line = z.string().min(1);

/** Whole utterances in lower case without punctuation; Chinese, Japanese and Thai without spaces. A phrase that
 *  acknowledges in one language means nothing else in another: the phrases of all languages are used together. */
const phrases = z.strictObject({
  /** Acknowledgements of a listener that are no attempt to interrupt. */
  backchannels: entries,
  /** Words that agree: to a statement they acknowledge it, to a question they answer it. Some are among the
   *  backchannels too. */
  agreements: entries,
  /** Phrases that interrupt in any case, also as the beginning of a longer sentence. */
  stops: entries,
  /** Requests to be silent for a while. They interrupt too. */
  waits: entries,
  /** Words around such a request. */
  politeWords: entries,
  /** Phrases with which people answer a call, or greet. */
  greetings: entries,
  farewells: entries,
});

/** Lower case, no apostrophes. A word that often ends a sentence as well is in no list. */
const endpointing = z.strictObject({
  /** Endings of one to three words that do not end a sentence. */
  endings: entries,
  yesNo: entries,
  /** Words that may accompany a yes or a no. */
  besideYesNo: entries,
  digits: entries,
  /** Words that repeat the next digit, with the number of additional digits. */
  repeats: z.record(z.string(), z.int()),
});

/** Abbreviations after which a full stop ends no sentence. The language of a text is not known where it is split, so
 *  those of all languages count together. A word that ends sentences in any of them is left out, such as "me" (French),
 *  "ok" (Polish) and "out" (Portuguese): a sentence that is split at an abbreviation is heard, one that is joined to
 *  the next only comes later. */
const abbreviations = z.strictObject({
  /** Before a name, or before any word. */
  titles: entries,
  /** Before a number. Otherwise they end a sentence. */
  beforeNumbers: entries,
});

/** Ordinals that are written with a full stop: "im 3. Stock", "3. Mai". */
const ordinals = z.strictObject({
  /** Words before an ordinal. */
  before: entries,
  /** Months after the ordinal of a day, with their abbreviations. */
  months: entries,
});

/** Lines for faults and waits. */
const spokenLines = z.strictObject({
  /** Said when the model or the recogniser returned nothing. */
  sayAgain: line,
  /** Said when the model failed once. */
  trouble: line,
  /** Said when a tool has worked and the model has nothing to say about it. */
  anythingElse: line,
  /** Said when the model or its content filter refused the caller's words. */
  cannotDiscuss: line,
  /** Said when the agent failed again, before the call ends. */
  apology: line,
  /** Said when the agent failed again, before the caller is connected with a person. */
  handOver: line,
  /** Said when the caller has waited for two seconds, one line at a time in turn. */
  oneMoment: entries,
  /** Said when the caller continues to wait. */
  stillWorking: line,
  /** Said when the parties could not communicate for a while. */
  lineRestored: line,
  /** Said when the agent was away for some seconds through a fault of ours, before it repeats its last words. */
  resumed: line,
  areYouThere: line,
  /** Said when the caller has asked the agent to wait. */
  waiting: line,
  /** Said when the agent has waited for a while, or the caller asks whether it is there. */
  stillHere: line,
  /** Said when the caller was not understood for the second time in a row. */
  sayOtherwise: line,
  /** The same where keys are expected too. */
  sayOtherwiseOrKeys: line,
  /** Said when the caller was not understood for the third time in a row. */
  speakClearly: line,
  /** Said when speech recognition has failed for good. */
  keysOnly: line,
  /** Said when the caller is to enter a number by keys. */
  enterDigits: line,
  /** Said when that number is not valid, before it is entered again. */
  digitsWrong: line,
  goodbye: line,
  /** Said when the call is about to reach its longest duration. */
  endingSoon: line,
  /** Asks for a confirmation. `{value}` is the recognised value. */
  confirm: line,
});

/** All lines. Those of scripted menus are English: their menus are the author's. */
const dialogueLines = spokenLines.extend({
  notUnderstood: line,
  /** Said when the caller was not understood several times, before the call ends. */
  givingUp: line,
  noOperator: line,
  confirmGoodbye: line,
  /** One choice of a menu by key, with `{choice}` and `{key}`. */
  menuKey: line,
  /** The choices of a menu by voice, with `{choices}`. */
  menuSay: line,
  /** Word that joins the last two of `{choices}`. */
  or: line,
  yesNoKeys: line,
  slots: z.strictObject({
    yes_no: line,
    digit: line,
    digits: line,
    number: line,
    date: line,
    time: line,
    weekday: line,
    money: line,
    spelling: line,
  }),
});

const language = z.strictObject({
  /** Code of ISO 15924. */
  script: z.enum(['Latn', 'Deva', 'Arab', 'Hans', 'Jpan', 'Thai']),
  /** What a translator must know about the entries. */
  notes: z.array(z.string()).optional(),
  phrases: phrases.optional(),
  endpointing: endpointing.optional(),
  abbreviations: abbreviations.optional(),
  ordinals: ordinals.optional(),
  lines: spokenLines.optional(),
});

const english = language.required({ phrases: true, endpointing: true }).extend({
  /** Whole answers. */
  answers: z.strictObject({ yes: entries, no: entries, goodbye: entries }),
  lines: dialogueLines,
});

export type Language = z.infer<typeof language>;
export type ControlPhrases = z.infer<typeof phrases>;
export type DialogueLines = z.infer<typeof dialogueLines>;

export const ENGLISH = english.parse(read('en'));

const OTHERS = ['de', 'es', 'fr', 'it', 'nl', 'pt', 'pl', 'hi', 'ar', 'zh', 'ja', 'th'];

export const LANGUAGES: ReadonlyMap<string, Language> = new Map([
  ['en', ENGLISH],
  ...OTHERS.map((tag): [string, Language] => [tag, language.parse(read(tag))]),
]);

/** One table in each language that has it, by language. */
export function tablesOf<Name extends keyof Language>(
  name: Name,
): Map<string, NonNullable<Language[Name]>> {
  const tables = new Map<string, NonNullable<Language[Name]>>();
  for (const [tag, { [name]: table }] of LANGUAGES) if (table !== undefined) tables.set(tag, table);
  return tables;
}

function read(tag: string): unknown {
  return JSON.parse(readFileSync(new URL(`./${tag}.json`, import.meta.url), 'utf8'));
}
