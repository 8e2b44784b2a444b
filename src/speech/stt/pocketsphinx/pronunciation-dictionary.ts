// Pronunciation dictionary in the format of the CMU Pronouncing Dictionary, one word a line.
// Source: cmudict-en-us.dict, as Debian's pocketsphinx-en-us ships it.

export interface Dictionary {
  has(word: string): boolean;
  /** Pronunciations of a word, the most usual first, each a list of phones such as "HH AH L OW". Empty for an unknown
   *  word. */
  pronunciations(word: string): string[];
}

/** Lines of a dictionary. The English one has 134,723. */
const LINES_MAX = 1_000_000;
/** Matches "word PH ON ES", or "word(2) PH ON ES" for a variant. */
const LINE = /^([^\s(]+)(?:\(\d+\))?\s+([A-Z ]+?)\s*$/;

/** Parses a dictionary. Skips other lines. */
export function parseDictionary(text: string): Dictionary {
  /** Pronunciations by word. Variants are joined by "|": one string takes a third of an array's memory. */
  const entries = new Map<string, string>();
  for (const line of text.split('\n', LINES_MAX)) {
    const [, word, phones] = LINE.exec(line) ?? [];
    if (word === undefined || phones === undefined) continue;
    const known = entries.get(word);
    entries.set(word, known === undefined ? phones : `${known}|${phones}`);
  }
  return {
    has: (word) => entries.has(word),
    pronunciations: (word) => entries.get(word)?.split('|') ?? [],
  };
}
