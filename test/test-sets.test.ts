// The sets of tests: nothing is in none, and what npm test leaves out is in the rest.

import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { FULL_ONLY, leftOut, testFiles } from './test-sets.ts';

it('names only files and folders that there are', () => {
  expect(
    Object.values(FULL_ONLY).flatMap((paths) => paths.filter((path) => !existsSync(path))),
  ).toEqual([]);
});

it('runs every file in npm test, in the rest or in a browser, and all but the last in the full set', () => {
  const usual = new Set(leftOut('usual'));
  const rest = new Set(leftOut('rest'));
  expect(usual.size).toBeGreaterThan(20);
  const inBrowser = leftOut('full');
  expect(testFiles().filter((path) => usual.has(path) && rest.has(path))).toEqual(inBrowser);
  expect(inBrowser).toContain('test/console/frame.test.ts');
  const left = new Set(leftOut('console'));
  expect(inBrowser.filter((path) => left.has(path))).toEqual([]);
});

it('runs tests that draw at random in the rest too, with more rounds', () => {
  expect(leftOut('rest')).not.toContain('test/workflow/engine-fuzz.test.ts');
  expect(leftOut('rest')).toContain('test/tidy.test.ts');
});
