// A number as a quantity: "twenty five", "one hundred and five", "minus two", "three point five". Two numbers side
// by side are ambiguous and give no value.

import { cardinalAt, unitOf } from './cardinal.ts';
import type { SlotMatch } from './tokens.ts';

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
