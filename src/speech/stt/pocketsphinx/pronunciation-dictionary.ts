// The pronunciation dictionary, in the format of the CMU Pronouncing Dictionary, one word a line.
// Source: cmudict-en-us.dict, as Debian's pocketsphinx-en-us ships it.

export interface Dictionary {
  has(word: string): boolean;
  /** Each pronunciation is a list of phones, such as "HH AH L OW"; the most usual first. Empty for an unknown
   *  word. */
  pronunciations(word: string): string[];
}

/** The English one has 134,723 lines. */
const LINES_MAX = 1_000_000;
/** "word PH ON ES", or "word(2) PH ON ES" for a variant. */
const LINE = /^([^\s(]+)(?:\(\d+\))?\s+([A-Z ]+?)\s*$/;

/** Lines of another form are skipped. */
export function parseDictionary(text: string): Dictionary {
  /** Variants are joined by "|": one string per word takes a third of an array's memory. */
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
