// The words of simulated callers, each of which exists once in a measurement: the call and the number of the word in it,
// in letters alone, so that no rule for numbers changes them.

export interface CallWord {
  call: number;
  /** From 0 on. */
  nth: number;
}

const DIGITS = 'abcdefghijklmnop';
const WORD = /\b([a-p]+)z([a-p]+)\b/g;

export function wordOf({ call, nth }: CallWord): string {
  return `${lettersOf(call)}z${lettersOf(nth)}`;
}

/** All words of callers in a text, in order. */
export function wordsIn(text: string): CallWord[] {
  return [...text.matchAll(WORD)].map(([, call = '', nth = '']) => ({
    call: numberOf(call),
    nth: numberOf(nth),
  }));
}

function lettersOf(value: number): string {
  return [...value.toString(16)].map((digit) => DIGITS[Number.parseInt(digit, 16)]).join('');
}

function numberOf(letters: string): number {
  return [...letters].reduce((sum, letter) => sum * 16 + DIGITS.indexOf(letter), 0);
}
