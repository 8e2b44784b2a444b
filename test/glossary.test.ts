// docs/glossary.md against the source: a term is found by grep in the file that owns it.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const [, , owners = ''] = readFileSync('docs/glossary.md', 'utf8').split(/^## /m);
const rows = [...owners.matchAll(/^\| ([^|]+) \| [^|]+ \| `([^`]+)` \|$/gm)].map((row) => ({
  term: row[1] ?? '',
  file: row[2] ?? '',
}));

/** Lower case, with one blank for every hyphen and line break of a comment. */
const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\n\s*(\/\/|\*)/g, ' ')
    .replace(/[-\s]+/g, ' ');

/** A file's path and the comment that it opens with. */
function nameAndHeader(file: string): string {
  const header = /^(\s*(\/\/.*|\/\*[\s\S]*?\*\/)\n)*/.exec(readFileSync(file, 'utf8'))?.[0] ?? '';
  return `${plain(file.replace(/\.ts$/, ''))} ${plain(header)}`;
}

describe('the glossary', () => {
  it('has forty terms of the field and more, each once', () => {
    expect(rows.length).toBeGreaterThanOrEqual(40);
    expect(new Set(rows.map(({ term }) => term)).size).toBe(rows.length);
    expect(new Set(rows.map(({ file }) => file)).size).toBe(rows.length);
  });

  it.each(rows)('finds "$term" in the name or header of $file', ({ term, file }) => {
    expect(existsSync(file)).toBe(true);
    expect(nameAndHeader(file)).toContain(plain(term));
  });
});
