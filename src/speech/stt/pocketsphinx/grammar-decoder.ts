// Decoder with many grammars: adds the words that each needs, keeps the recently used grammars, and decodes with one of
// them.

import type { Grammar } from './jsgf.ts';
import type { SphinxDecoder } from './pocketsphinx-library.ts';
import type { Dictionary } from './pronunciation-dictionary.ts';

export interface GrammarDecoder {
  readonly decoder: SphinxDecoder;
  /** Selects the grammar. Returns false if the library refuses it. */
  use(grammar: Grammar): boolean;
}

/** Grammars in memory, 10 to 300 kB each. */
const GRAMMARS_MAX = 40;

export function createGrammarDecoder(
  decoder: SphinxDecoder,
  dictionary: Dictionary,
  grammarsMax = GRAMMARS_MAX,
): GrammarDecoder {
  /** Names of the grammars by text, least recently used first. */
  const names = new Map<string, string>();
  const words = new Set<string>();
  let count = 0;

  function learn(word: string): void {
    if (words.has(word)) return;
    words.add(word);
    for (const [index, phones] of dictionary.pronunciations(word).entries()) {
      decoder.addWord(index === 0 ? word : `${word}(${index + 1})`, phones);
    }
  }

  function add(grammar: Grammar): string | undefined {
    for (const word of grammar.words) learn(word);
    count += 1;
    const name = `grammar${count}`;
    return decoder.addGrammar(name, grammar.text) ? name : undefined;
  }

  function dropOldest(): void {
    const [oldest] = names;
    if (names.size <= grammarsMax || oldest === undefined) return;
    names.delete(oldest[0]);
    decoder.dropGrammar(oldest[1]);
  }

  return {
    decoder,
    use(grammar) {
      const name = names.get(grammar.text) ?? add(grammar);
      if (name === undefined) return false;
      names.delete(grammar.text);
      names.set(grammar.text, name);
      decoder.useGrammar(name);
      dropOldest();
      return true;
    },
  };
}
