// The engine's lines in each language that has some.

import { describe, expect, it } from 'vitest';
import { ENGLISH_LINES, linesFor } from '../../../src/workflow/engine/dialogue-lines.ts';

const SCRIPTS: Record<string, RegExp> = {
  de: /\p{Script=Latin}/u,
  es: /\p{Script=Latin}/u,
  fr: /\p{Script=Latin}/u,

  it: /\p{Script=Latin}/u,
  nl: /\p{Script=Latin}/u,
  pt: /\p{Script=Latin}/u,

  hi: /\p{Script=Devanagari}/u,
  ar: /\p{Script=Arabic}/u,
  zh: /\p{Script=Han}/u,
  ja: /\p{Script=Hiragana}/u,
};

describe.each(Object.keys(SCRIPTS))('the lines of %s', (language) => {
  const lines = linesFor(language);
  const own = Object.entries(lines).filter(([name, line]) => {
    return (
      JSON.stringify(line) !== JSON.stringify(ENGLISH_LINES[name as keyof typeof ENGLISH_LINES])
    );
  });

  it('are all in its script', () => {
    expect(own).toHaveLength(22);
    const written = own.flatMap(([, line]) => line);
    expect(written.filter((line) => !SCRIPTS[language]?.test(String(line)))).toEqual([]);
  });

  it('have the value that is confirmed', () => {
    expect(lines.confirm).toContain('{value}');
  });
});
