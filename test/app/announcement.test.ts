import { expect, it } from 'vitest';
import { type Announced, announcement } from '../../src/app/announcement.ts';

const config: Announced['config'] = {
  hasConsole: true,
  publicUrl: 'http://localhost:8000',
  databaseUrl: undefined,
  dataFolder: './data',
  bootstrapApiKey: undefined,
};
const first = { apiKey: 'pbk_one' };
const LISTENS = 'Patchbay listens on http://localhost:8000 (docs at http://localhost:8000/docs)';
const CONSOLE = 'Console: http://localhost:8000/console/';

it('a first start at a terminal ends with the next command and the key, alone', () => {
  const lines = announcement({ config, first, isTerminal: true });
  expect(lines.slice(0, 4)).toEqual([LISTENS, CONSOLE, 'Data folder: ./data', 'Ctrl-C stops it.']);
  expect(lines).toContain('  export GW=http://localhost:8000/api/v1 KEY=pbk_one');
  expect(lines.filter((line) => line !== '').slice(-2)).toEqual([
    'First API key (shown once):',
    '  pbk_one',
  ]);
});

it('elsewhere the key is in one line, which programs read', () => {
  const lines = announcement({ config, first, isTerminal: false });
  expect(lines).toEqual([
    LISTENS,
    CONSOLE,
    'Data folder: ./data',
    'First API key (shown once): pbk_one',
  ]);
});

it('a key that was given is not printed, and a later start has none', () => {
  const given = { ...config, bootstrapApiKey: 'secret' };
  expect(announcement({ config: given, first, isTerminal: true }).join()).not.toMatch(
    /secret|pbk_one/,
  );
  const later = announcement({ config, first: undefined, isTerminal: true });
  expect(later).toEqual([LISTENS, CONSOLE, 'Data folder: ./data', 'Ctrl-C stops it.']);
});
