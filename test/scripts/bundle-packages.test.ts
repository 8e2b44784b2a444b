// The packages of a build, in a folder with packages of its own. A package in one file must give its importer what the
// installed one gives.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bundlePackages } from '../../scripts/bundle-packages.mjs';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-bundle-'));
  file('package.json', '{"type":"module"}');
  file(
    'node_modules/modern/package.json',
    '{"type":"module","exports":{".":"./a.js","./b":"./b.js"}}',
  );
  file('node_modules/modern/a.js', "export { b as a } from './b.js'; export const unused = 1;");
  file(
    'node_modules/modern/b.js',
    'export const b = { loaded: (globalThis.loads = (globalThis.loads ?? 0) + 1) };',
  );
  file('node_modules/old/package.json', '{"main":"main.js"}');
  file(
    'node_modules/old/main.js',
    "exports.__esModule = true; exports.path = require('path').sep; exports.C = class C {};",
  );
  file('node_modules/koffi/package.json', '{"main":"main.js"}');
  file('node_modules/koffi/main.js', 'module.exports = __filename;');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function runNode(path: string): string {
  return execFileSync(process.execPath, [path], { encoding: 'utf8' });
}

const MAIN = `import { a } from 'modern';
import { b } from 'modern/b';
import old, { C, path as sep } from 'old';
import where from 'koffi';
console.log(JSON.stringify([a === b, a.loaded, old.path, C.name, sep, where]));
`;

it('gives the sources what the installed packages give, and loads what two entries share once', async () => {
  file('dist/main.js', MAIN);
  const installed = runNode(join(folder, 'dist/main.js'));
  expect(JSON.parse(installed)).toEqual([
    true,
    1,
    '/',
    'C',
    '/',
    join(folder, 'node_modules/koffi/main.js'),
  ]);

  await bundlePackages(folder);
  for (const name of ['modern', 'old'])
    rmSync(join(folder, 'node_modules', name), { recursive: true });
  expect(runNode(join(folder, 'dist/main.js'))).toBe(installed);
});

it('leaves out the languages of zod but English', async () => {
  const locales = 'node_modules/zod/v4/locales';
  file('node_modules/zod/package.json', '{"type":"module","exports":{".":"./index.js"}}');
  file('node_modules/zod/index.js', "export * as locales from './v4/locales/index.js';");
  file(
    `${locales}/index.js`,
    "export { default as en } from './en.js'; export { default as fr } from './fr.js';",
  );
  file(`${locales}/en.js`, "export default 'English';");
  file(`${locales}/fr.js`, "export default 'French';");
  file(
    'dist/main.js',
    "import { locales } from 'zod';\nconsole.log(Object.values(locales).join());\n",
  );
  await bundlePackages(folder);
  expect(runNode(join(folder, 'dist/main.js')).trim()).toBe('English');
});

it('refuses to guess the names of a namespace import', async () => {
  file('dist/main.js', "import * as modern from 'modern';\nconsole.log(modern.a);\n");
  await expect(bundlePackages(folder)).rejects.toThrow('import names instead');
});

it('fails where a package is missing', async () => {
  file('dist/main.js', "import { x } from 'not-there';\n");
  await expect(bundlePackages(folder)).rejects.toThrow('not-there');
});
