// Words that a recogniser of free speech should prefer: those of the settings and of the expected input.

import type { ExpectedInput } from '../../model/expected-input.ts';

/** Services refuse longer ones. */
const TERM_CHARACTERS_MAX = 100;

/** Without repetitions. Beyond `countMax`, the settings' terms come first, then the shortest: they are the hardest to
 *  recognise, and names are short. */
export function vocabulary(
  settings: readonly string[],
  { boost, phrases }: ExpectedInput,
  countMax: number,
): string[] {
  const expected = [...boost, ...phrases].sort((one, other) => one.length - other.length);
  const terms = [...settings, ...expected]
    .map((term) => term.trim())
    .filter((term) => term !== '' && term.length <= TERM_CHARACTERS_MAX);
  return [...new Set(terms)].slice(0, countMax);
}
