// The files of languages: each is read, and its entries have the form in which words are compared.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { plainWords } from '../../src/model/control-phrases.ts';
import { ENGLISH, LANGUAGES, tablesOf } from '../../src/model/languages/languages.ts';

describe('the languages', () => {
  it('are the files of the folder', () => {
    const files = readdirSync('src/model/languages').filter((name) => name.endsWith('.json'));
    expect([...LANGUAGES.keys()].map((tag) => `${tag}.json`).sort()).toEqual(files.sort());
  });

  it('have phrases as callers are compared with them, each once', () => {
    const tables = [...tablesOf('phrases').values(), ENGLISH.answers];
    for (const phrases of tables.flatMap((table) => Object.values(table))) {
      expect(phrases.filter((phrase) => plainWords(phrase) !== phrase)).toEqual([]);
      expect(new Set(phrases).size).toBe(phrases.length);
    }
  });

  it('have abbreviations and ordinals in lower case, without a full stop at the end', () => {
    const tables = [...tablesOf('abbreviations').values(), ...tablesOf('ordinals').values()];
    const words = tables.flatMap((table) => Object.values(table).flat());
    expect(words.filter((word) => !/^[\p{Ll}\p{Lo}\p{M}]+(\.[\p{Ll}]+)*$/u.test(word))).toEqual([]);
  });

  it('have text in composed letters', () => {
    const text = JSON.stringify([...LANGUAGES.values()]);
    expect(text.normalize('NFC')).toBe(text);
  });
});
