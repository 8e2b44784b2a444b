// The README against the program: settings, commands, files that it names.

import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { settings } from '../src/config.ts';

const readme = readFileSync('README.md', 'utf8');
const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8'))).scripts;

/** The table as README.md must have it. */
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

describe('the README', () => {
  it('has the table of settings that src/config.ts stands for', () => {
    const from = readme.indexOf('|---|---|---|', readme.indexOf('<!-- settings'));
    const table = readme.slice(from, readme.indexOf('<!-- end of'));
    expect(table.trim().split('\n').slice(1).join('\n')).toBe(settingsTable());
  });

  it('names only commands that there are', () => {
    const named = [...readme.matchAll(/npm (?:run )?([a-z:]+)/g)].map((match) => match[1] ?? '');
    expect(named.length).toBeGreaterThan(4);
    const commands = [...Object.keys(scripts), 'ci', 'packages'];
    expect(named.filter((name) => !commands.includes(name))).toEqual([]);
  });

  it('names only files that there are', () => {
    const paths = [...readme.matchAll(/\b((?:fixtures|grafana|native|src)\/[\w./-]*)/g)].map(
      (match) => (match[1] ?? '').replace(/\.$/, ''),
    );
    expect(paths.length).toBeGreaterThan(4);
    expect(paths.filter((path) => !existsSync(path))).toEqual([]);
  });

  it('is told the truth by .ci/run, which runs the test command and nothing else', () => {
    expect(readFileSync('.ci/run', 'utf8')).toMatch(/^timeout \d+ npm test <\/dev\/null$/m);
    expect(readme).toMatch(/^npm test /m);
  });
});
