// Tokens of spoken text for the slot grammars: lower case, no punctuation except in numbers and times, no
// hesitations.

const HESITATIONS = new Set(['um', 'uh', 'uhm', 'er', 'erm', 'eh', 'hmm', 'hm']);

/** Filler words around a value. */
const FILLERS = new Set(
  (
    "a an the it it's its is at on in of for my me i i'd i'll i'm we would like want to be please yes " +
    'ok okay well so then about around maybe that this will can could make take have number code ' +
    'date time day thank you thanks sir madam just um uh and'
  ).split(' '),
);

/** Numbers with thousands separators, as recognisers write them: "$1,000", "12,500". */
const WITH_THOUSANDS = /(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])/g;

/** Words of a turn that are read; longer turns are no answers to a closed question. */
const WORDS_MAX = 100;

export function slotWords(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[\u2018\u2019]/g, "'")
    .replace(/\b([ap])\.\s?m\b\.?/g, '$1m')
    .replace(WITH_THOUSANDS, (number) => number.replaceAll(',', ''))
    .replace(/[^\p{L}\p{N}'.:$€£]+/gu, ' ')
    .split(' ')
    .flatMap(split)
    .filter((word) => word !== '' && !HESITATIONS.has(word))
    .slice(0, WORDS_MAX);
}

/** The words of a token: `2:30pm` is two words, `$25` two, a full stop at the end none. */
function split(word: string): string[] {
  const plain = word.replace(/^[.:']+|[.:']+$/g, '');
  const joined = /^([$€£])?(\d[\d.:]*)(am|pm)?$/.exec(plain);
  if (joined === null) return [plain.replace(/^[$€£]+|[.:]/g, '')];
  const [, currency, number, half] = joined;
  return [currency ?? '', (number ?? '').replace(/[.:]+$/, ''), half ?? ''];
}

export function isFiller(word: string): boolean {
  return FILLERS.has(word);
}

/** Whether all words outside `from`..`to` (exclusive) are fillers. */
export function standsAlone(words: readonly string[], from: number, to: number): boolean {
  return words.every((word, index) => (index >= from && index < to) || isFiller(word));
}

/** A value found in words `from`..`to` (exclusive). */
export interface SlotMatch {
  value: string | number | boolean;
  /** Form of the value in the confirmation. */
  spoken: string;
  from: number;
  to: number;
}
