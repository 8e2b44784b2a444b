// Digits spoken one by one, as in a code or a telephone number: "five five five one two", "double seven", "triple
// oh", "twenty three", "5 5 5". The value is a string: leading zeros count.

import { smallNumberAt } from './cardinal.ts';
import type { SlotMatch } from './tokens.ts';

/** Words for digits in addition to zero..nine. */
const ZEROS = new Set(['oh', 'o', 'nought', 'naught', 'nil']);
const TIMES: Record<string, number> = { double: 2, triple: 3, treble: 3 };

/** Every longest run of digits. */
export function findDigits(words: readonly string[]): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let from = 0; from < words.length; ) {
    const run = digitRun(words, from);
    if (run.to > from) {
      const spoken = [...run.digits].join(' ');
      found.push({ value: run.digits, spoken, from, to: run.to });
    }
    from = Math.max(run.to, from + 1);
  }
  return found;
}

function digitRun(words: readonly string[], from: number): { digits: string; to: number } {
  let digits = '';
  let to = from;
  for (;;) {
    const next = digitsAt(words, to);
    if (next === undefined) return { digits, to };
    digits += next.digits;
    to = next.to;
  }
}

function digitsAt(
  words: readonly string[],
  at: number,
): { digits: string; to: number } | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  if (/^\d+$/.test(word)) return { digits: word, to: at + 1 };
  if (ZEROS.has(word)) return { digits: '0', to: at + 1 };
  const times = Object.hasOwn(TIMES, word) ? TIMES[word] : undefined;
  if (times !== undefined) {
    const digit = digitsAt(words, at + 1);
    return digit?.digits.length === 1
      ? { digits: digit.digits.repeat(times), to: digit.to }
      : undefined;
  }
  const small = smallNumberAt(words, at);
  return small === undefined ? undefined : { digits: String(small.value), to: small.to };
}
