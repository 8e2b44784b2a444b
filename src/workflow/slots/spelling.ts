// Characters spoken one by one. Digits, as in a code or a telephone number: "five five five one two", "double seven",
// "triple oh", "twenty three", "5 5 5"; the value is a string: leading zeros count. Letters and digits: "a b c", "alpha
// bravo", "double s", "b as in bravo"; the value is in capitals. A single letter is no spelling: "a" and "I" are words.

import { smallNumberAt, unitOf } from './cardinal.ts';
import type { SlotMatch } from './tokens.ts';

/** Words for digits in addition to zero..nine. */
const ZEROS = new Set(['oh', 'o', 'nought', 'naught', 'nil']);
const TIMES: Record<string, number> = { double: 2, triple: 3, treble: 3 };
const ALPHABET = (
  'alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november ' +
  'oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu zed zee'
).split(' ');
const LETTERS_MIN = 2;

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

interface Letters {
  text: string;
  to: number;
}

/** Every run of letters and digits. */
export function findSpellings(words: readonly string[]): SlotMatch[] {
  const found: SlotMatch[] = [];
  for (let from = 0; from < words.length; ) {
    let text = '';
    let to = from;
    for (let next = lettersAt(words, to); next !== undefined; next = lettersAt(words, to)) {
      text += next.text;
      to = next.to;
    }
    if (text.length >= LETTERS_MIN && /[A-Z]/.test(text)) {
      found.push({ value: text, spoken: [...text].join(' '), from, to });
    }
    from = Math.max(to, from + 1);
  }
  return found;
}

function lettersAt(words: readonly string[], at: number): Letters | undefined {
  if (words[at] === 'double') {
    const one = letterAt(words, at + 1);
    return one === undefined ? undefined : { text: one.text.repeat(2), to: one.to };
  }
  return letterAt(words, at);
}

function letterAt(words: readonly string[], at: number): Letters | undefined {
  const word = words[at];
  if (word === undefined) return undefined;
  const text = characterOf(word);
  if (text === undefined) return undefined;
  const [link, example] = [words[at + 1], words[at + 2]];
  const illustrated = example?.[0]?.toUpperCase() === text && (link === 'for' || link === 'like');
  if (illustrated) return { text, to: at + 3 };
  const asIn = link === 'as' && example === 'in' && words[at + 3]?.[0]?.toUpperCase() === text;
  return { text, to: asIn ? at + 4 : at + 1 };
}

function characterOf(word: string): string | undefined {
  if (/^[a-z0-9]$/.test(word)) return word.toUpperCase();
  if (ALPHABET.includes(word)) return word[0]?.toUpperCase();
  const digit = unitOf(word);
  return digit === undefined || digit > 9 ? undefined : String(digit);
}
