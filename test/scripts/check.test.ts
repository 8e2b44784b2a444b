// The checks of the sources, which run beside each other: what they come to is what each of them alone came to.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';

const program = resolve('scripts/check.mjs');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchbay-check-'));
  const scripts = {
    good: 'echo fine',
    bad: 'echo broken >&2; exit 3',
    none: 'exit 0',
    killed: 'kill -9 $$',
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'checked', scripts }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function check(...names: string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...names], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, said: `${stdout}${stderr}` };
}

it('checks that all hold are a success', () => {
  const { status, said } = check('good', 'none');
  expect(status).toBe(0);
  expect(said).toContain('good: good');
  expect(said).toContain('fine');
});

it('one that fails makes all fail, and the others run all the same', () => {
  const { status, said } = check('bad', 'none', 'killed', 'unknown', 'good');
  expect(status).toBe(1);
  expect(said).toContain('broken');
  expect(said).toContain('fine');
  expect(said).toMatch(/\[check\] failed: (?=.*bad)(?=.*killed)(?=.*unknown)(?!.*(good|none))/);
});
