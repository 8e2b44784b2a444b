// Vocabulary that a recogniser of free speech should prefer (keyword boosting): terms of the settings and of the
// expected input.

import type { ExpectedInput } from '../../../model/expected-input.ts';

/** Longest term. Services refuse longer ones, some of them shorter ones. */
const TERM_CHARACTERS_MAX = 100;
/** Characters of all terms. They are part of an address, servers accept 8 kB of it, and a letter may need three to
 *  nine. */
const CHARACTERS_MAX = 1_000;

/** Terms without repetitions. Beyond `countMax`, those of the settings come first, then the shortest: they are the
 *  hardest to recognise, and names are short. */
export function vocabulary(
  settings: readonly string[],
  { boost, phrases }: ExpectedInput,
  countMax: number,
  termCharactersMax = TERM_CHARACTERS_MAX,
): string[] {
  const expected = [...boost, ...phrases].sort((one, other) => one.length - other.length);
  const terms = [...settings, ...expected]
    .map((term) => term.trim())
    .filter((term) => term !== '' && term.length <= termCharactersMax);
  let characters = 0;
  return [...new Set(terms)].slice(0, countMax).filter((term) => {
    characters += term.length;
    return characters <= CHARACTERS_MAX;
  });
}
