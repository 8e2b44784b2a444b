// The sets of tests: nothing is in none, and what npm test leaves out is in the rest.

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FULL_ONLY, leftOut, testFiles } from './test-sets.ts';

it('names only files and folders that there are', () => {
  expect(
    Object.values(FULL_ONLY).flatMap((paths) => paths.filter((path) => !existsSync(path))),
  ).toEqual([]);
});

it('runs every file in npm test or in the rest, and pages in the rest and in a set of their own', () => {
  const usual = new Set(leftOut('usual'));
  const rest = new Set(leftOut('rest'));
  expect(usual.size).toBeGreaterThan(20);
  expect(testFiles().filter((path) => usual.has(path) && rest.has(path))).toEqual([]);
  expect(leftOut('full')).toEqual([]);
  const others = new Set(leftOut('console'));
  const pages = testFiles().filter((path) => !others.has(path));
  expect(pages).toContain('test/console/frame.test.ts');
  expect(pages.filter((path) => !usual.has(path) || rest.has(path))).toEqual([]);
});

it('runs tests that draw at random in the rest too, with more rounds', () => {
  expect(leftOut('rest')).not.toContain('test/workflow/engine-fuzz.test.ts');
  expect(leftOut('rest')).toContain('test/tidy.test.ts');
});
