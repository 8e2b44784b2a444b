// Letters and digits spoken one by one: "a b c", "alpha bravo", "double s", "b as in bravo". The value is in
// capitals. A single letter is no spelling: "a" and "I" are words.

import { unitOf } from './cardinal.ts';
import type { SlotMatch } from './tokens.ts';

const ALPHABET = (
  'alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november ' +
  'oscar papa quebec romeo sierra tango uniform victor whiskey whisky xray yankee zulu zed zee'
).split(' ');
const LETTERS_MIN = 2;

interface Letters {
  text: string;
  to: number;
}

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
