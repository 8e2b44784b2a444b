// The README and the table of settings against the program: settings, commands, files that they name.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tablesOf } from '../src/model/languages/languages.ts';
import { settings } from '../src/settings.ts';
import { linesFor } from '../src/workflow/engine/dialogue-lines.ts';

const readme = readFileSync('README.md', 'utf8');
const settingsDoc = readFileSync('docs/settings.md', 'utf8');
const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8'))).scripts;

const VARIABLE = /\bPATCHBAY_[A-Z_]*[A-Z]/g;

/** The table as docs/settings.md must have it. */
function settingsTable(): string {
  const properties = z
    .object({
      properties: z.record(
        z.string(),
        z.object({ description: z.string().min(10), default: z.string().optional() }),
      ),
    })
    .parse(z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' })).properties;
  return Object.entries(properties)
    .map(([name, { description, default: preset }]) => {
      const shown = preset === undefined ? '' : `\`${preset}\``;
      return `| \`${name}\` | ${shown} | ${description} |`;
    })
    .join('\n');
}

describe('the table of settings', () => {
  it('has each setting of src/settings.ts once, with its default', () => {
    const from = settingsDoc.indexOf('|---|---|---|', settingsDoc.indexOf('<!-- settings'));
    const table = settingsDoc.slice(from, settingsDoc.indexOf('<!-- end of'));
    expect(table.trim().split('\n').slice(1).join('\n')).toBe(settingsTable());
  });

  it('has every setting that a document names, unless a command reads it or a PBX channel has it', () => {
    const documents = documentNames().map((name) => readFileSync(`docs/${name}`, 'utf8'));
    const named = [readme, ...documents].flatMap((text) => text.match(VARIABLE) ?? []);
    const sources = ['src/cli', 'src/telephony/ari'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => readFileSync(`${folder}/${name}`, 'utf8')),
    );
    const known = [
      ...Object.keys(settings.shape),
      ...sources.flatMap((text) => text.match(VARIABLE) ?? []),
    ];
    expect(named.length).toBeGreaterThan(50);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('is linked to by the README', () => {
    expect(readme).toContain('](docs/settings.md)');
  });
});

describe('the README', () => {
  it('names only commands that there are', () => {
    const named = [...readme.matchAll(/npm (?:run )?([a-z:]+)/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(4);
    const commands = [...Object.keys(scripts), 'ci', 'packages'];
    expect(named.filter((name) => !commands.includes(name))).toEqual([]);
  });

  it('names only files that there are', () => {
    const paths = [...readme.matchAll(/\b((?:docs|fixtures|grafana|native|src)\/[\w./-]*)/g)].map(
      (match) => (match[1] ?? '').replace(/\.$/, ''),
    );
    expect(paths.length).toBeGreaterThan(4);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.each(['SECURITY.md', 'CONTRIBUTING.md', 'docs/security.md'])(
    '%s names only files that there are',
    (document) => {
      const text = readFileSync(document, 'utf8');
      const paths = [...text.matchAll(/`((?:src|test)\/[\w./-]*)`/g)].map(([, path = '']) => path);
      expect(paths.length).toBeGreaterThan(4);
      expect(paths.filter((path) => !existsSync(path))).toEqual([]);
    },
  );

  it('names the languages that the gateway knows', () => {
    const rowOf = (what: string): string[] =>
      new RegExp(`^\\| ${what}.* \\| (.+) \\|$`, 'm').exec(readme)?.[1]?.split(', ') ?? [];
    const english = new Intl.DisplayNames('en', { type: 'language' });
    const namesOf = (codes: readonly string[]) => codes.map((code) => english.of(code)).sort();
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const codes = letters.flatMap((first) => letters.map((second) => `${first}${second}`));
    const translated = codes.filter((code) => linesFor(code).goodbye !== linesFor('en').goodbye);
    expect(rowOf('its own lines')).toEqual(namesOf(['en', ...translated]));
    expect(rowOf('where a turn is not over')).toEqual(namesOf([...tablesOf('endpointing').keys()]));
    expect(rowOf('acknowledgements')).toEqual(namesOf([...tablesOf('phrases').keys()]));
  });

  it('agrees with .ci/run, which runs the test command and nothing else', () => {
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^timeout \d+ npm test <\/dev\/null$/m);
    expect(readme).toMatch(/^npm test /m);
  });
});

describe('docs/README.md', () => {
  const linked = [...readFileSync('docs/README.md', 'utf8').matchAll(/\]\(([^)#]+)(?:#[^)]+)?\)/g)];
  const pages = linked.map(([, page = '']) => page);

  it('leads to every page, and to none that there is not', () => {
    expect(pages.filter((page) => !existsSync(`docs/${page}`))).toEqual([]);
    const others = documentNames().filter((name) => name !== 'README.md');
    expect(others.filter((name) => !pages.includes(name))).toEqual([]);
  });
});

/** Without the folders of their pictures. */
function documentNames(): string[] {
  return readdirSync('docs', { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);
}
