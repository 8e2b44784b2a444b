// Words that a recogniser of free speech should prefer: those of the settings and of the expected input.

import type { ExpectedInput } from '../../../model/expected-input.ts';

/** Services refuse longer ones; some refuse shorter ones too. */
const TERM_CHARACTERS_MAX = 100;
/** Of all together: they are a part of an address, and servers take 8 kB of it; a letter may need three to nine. */
const CHARACTERS_MAX = 1_000;

/** Without repetitions. Beyond `countMax`, the settings' terms come first, then the shortest: they are the hardest to
 *  recognise, and names are short. */
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
