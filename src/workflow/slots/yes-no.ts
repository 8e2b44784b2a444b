// Yes or no, with their synonyms. "Yes" and "no" together is neither.

import { phrasesOf, plainWords } from '../../model/control-phrases.ts';

const YES_FIRST = new Set(['yes', 'yeah', 'yep', 'yup', 'sure', 'correct', 'certainly']);
const NO_FIRST = new Set(['no', 'nope', 'nah']);
const NEGATIONS = new Set([
  'no',
  'nope',
  'nah',
  'not',
  "don't",
  "isn't",
  "doesn't",
  "won't",
  'never',
]);

/** True for yes, false for no; undefined for anything else. */
export function parseYesNo(text: string): boolean | undefined {
  const plain = plainWords(text);
  if (phrasesOf('yes').includes(plain)) return true;
  if (phrasesOf('no').includes(plain)) return false;
  const words = plain.split(' ');
  const [first = ''] = words;
  if (YES_FIRST.has(first)) return words.some((word) => NEGATIONS.has(word)) ? undefined : true;
  if (NO_FIRST.has(first)) return words.some((word) => YES_FIRST.has(word)) ? undefined : false;
  return undefined;
}
