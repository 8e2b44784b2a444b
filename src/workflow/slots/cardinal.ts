// English numbers. A number as a quantity: "twenty five", "one hundred and five", "minus two", "three point five"; two
// numbers side by side are ambiguous and give no value. And number words as parts that the other slot grammars combine.

import type { SlotMatch } from './tokens.ts';

const UNITS = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
];
const TENS = ['twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const SCALES: Record<string, number> = { hundred: 100, thousand: 1_000, million: 1_000_000 };
const ORDINALS = [
  'first',
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
  'eleventh',
  'twelfth',
  'thirteenth',
  'fourteenth',
  'fifteenth',
  'sixteenth',
  'seventeenth',
  'eighteenth',
  'nineteenth',
];
const TEN_ORDINALS: Record<string, number> = { twentieth: 20, thirtieth: 30 };

/** Largest value, above spoken numbers; a larger one is not parsed. */
const VALUE_MAX = 1_000_000_000;

export interface NumberAt {
  value: number;
  /** Index after the last word of the number. */
  to: number;
}

/** Every number, as a quantity. */
export function findNumbers(words: readonly string[]): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let at = 0; at < words.length; ) {
    const negative = words[at] === 'minus' || words[at] === 'negative';
    const from = negative ? at + 1 : at;
    const whole = cardinalAt(words, from);
    if (whole === undefined) {
      at += 1;
      continue;
    }
    const { value, to } = withFraction(words, whole);
    const signed = negative ? -value : value;
    found.push({ value: signed, spoken: String(signed), from: at, to });
    at = to;
  }
  const touching = found.some(({ from }, index) => index > 0 && found[index - 1]?.to === from);
  return touching ? [] : found;
}

/** The number with its fraction: "three point five". */
function withFraction(
  words: readonly string[],
  whole: { value: number; to: number },
): { value: number; to: number } {
  if (words[whole.to] !== 'point') return whole;
  let digits = '';
  let to = whole.to + 1;
  for (;;) {
    const digit = words[to] === 'oh' ? 0 : unitOf(words[to]);
    if (digit === undefined || digit > 9) break;
    digits += String(digit);
    to += 1;
  }
  return digits === '' ? whole : { value: Number(`${whole.value}.${digits}`), to };
}

/** Value of one word, 0 to 19. */
export function unitOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  const unit = UNITS.indexOf(word);
  return unit < 0 ? undefined : unit;
}

/** Value of one word, 20, 30 to 90. */
function tensOf(word: string | undefined): number | undefined {
  const tens = word === undefined ? -1 : TENS.indexOf(word);
  return tens < 0 ? undefined : (tens + 2) * 10;
}

/** Number 0 to 99 as spoken in a time or a year: "five", "twelve", "twenty three", "45". */
export function smallNumberAt(words: readonly string[], at: number): NumberAt | undefined {
  const word = words[at];
  if (word !== undefined && /^\d{1,2}$/.test(word)) return { value: Number(word), to: at + 1 };
  const unit = unitOf(word);
  if (unit !== undefined) return { value: unit, to: at + 1 };
  const tens = tensOf(word);
  if (tens === undefined) return undefined;
  const below = unitOf(words[at + 1]);
  const joins = below !== undefined && below > 0 && below < 10;
  return joins ? { value: tens + below, to: at + 2 } : { value: tens, to: at + 1 };
}

/** Ordinal 1 to 31: "third", "twenty third", "23rd", "23". */
export function ordinalAt(words: readonly string[], at: number): NumberAt | undefined {
  const word = words[at] ?? '';
  const written = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word);
  if (written !== null) return { value: Number(written[1]), to: at + 1 };
  const simple = ORDINALS.indexOf(word) + 1 || TEN_ORDINALS[word];
  if (simple !== undefined && simple > 0) return { value: simple, to: at + 1 };
  const tens = tensOf(word);
  const below = ORDINALS.indexOf(words[at + 1] ?? '') + 1;
  if (tens !== undefined && below > 0 && below < 10) return { value: tens + below, to: at + 2 };
  return undefined;
}

/** The longest cardinal that begins at `at`: "one hundred and twenty five", "two thousand", "3.5". */
export function cardinalAt(words: readonly string[], at: number): NumberAt | undefined {
  if (/^\d+(\.\d+)?$/.test(words[at] ?? '')) {
    const value = Number(words[at]);
    return value < VALUE_MAX ? scaledBy(words, { value, to: at + 1 }) : undefined;
  }
  const first = groupAt(words, at);
  if (first === undefined) return undefined;
  let { value, to } = first;
  let whole = 0;
  for (let before = Number.POSITIVE_INFINITY; ; ) {
    const scale = scaleOf(words[to]);
    if (scale === undefined || scale <= 100 || scale >= before || value === 0) break;
    before = scale;
    whole += value * scale;
    value = 0;
    to += 1;
    const rest = groupAt(words, words[to] === 'and' ? to + 1 : to);
    if (rest === undefined) break;
    ({ value, to } = rest);
  }
  return whole + value < VALUE_MAX ? { value: whole + value, to } : undefined;
}

/** Number 0 to 9900 and units: "five", "twenty five", "three hundred and six". Words only. */
function groupAt(words: readonly string[], at: number): NumberAt | undefined {
  const small = wordsOnly(words, at);
  if (small === undefined || small.value === 0 || words[small.to] !== 'hundred') return small;
  const value = small.value * 100;
  const to = small.to + 1;
  const rest = wordsOnly(words, words[to] === 'and' ? to + 1 : to);
  return rest === undefined ? { value, to } : { value: value + rest.value, to: rest.to };
}

function wordsOnly(words: readonly string[], at: number): NumberAt | undefined {
  return /\d/.test(words[at] ?? '') ? undefined : smallNumberAt(words, at);
}

/** Figures with a scale: "25 hundred", "3 thousand". */
function scaledBy(words: readonly string[], number: NumberAt): NumberAt {
  const scale = scaleOf(words[number.to]);
  if (scale === undefined || number.value * scale >= VALUE_MAX) return number;
  return { value: number.value * scale, to: number.to + 1 };
}

function scaleOf(word: string | undefined): number | undefined {
  return word !== undefined && Object.hasOwn(SCALES, word) ? SCALES[word] : undefined;
}
